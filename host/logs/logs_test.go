package logs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"token-terminator/internal/safefile"
	"token-terminator/turn"
)

// The library removes old files in a goroutine that lives as long as the process.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}

const canary = "canary-4711 secret words"

type secretly struct{ words string }

func (s secretly) LogValue() slog.Value { return slog.StringValue(s.words) }

// Whatever is handed to the log, it holds no content: no error's text, no value of an
// unknown name, no long or odd text, no fields of a struct.
func TestPrivacy_TheLogHoldsNoContent(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := New(&out, slog.LevelDebug)
	one := errors.New(canary)
	log.Info("turn failed", "session", "s-1", "n", 3, "reason", turn.Deadline, "err", one, "text", canary, "ms", 1.5)
	log.Info("turn failed", "reason", canary, "session", canary, "type", strings.Repeat("x", 200))
	log.Warn("wrapped", "error", fmt.Errorf("%s: %w", canary, &fs.PathError{Op: canary, Path: canary, Err: one}))
	log.Error("struct", "stage", secretly{canary}, "kind", struct{ Words string }{canary}, "bytes", []byte(canary))
	log.With("path", canary, "session", "s-2").WithGroup(canary).Info("grouped", slog.Group("session", "text", canary), "gen", uint64(4))
	log.Info(canary+"\n"+canary, "n", 1)
	log.Info("ünicode " + canary)
	log.Log(t.Context(), slog.LevelDebug, "any", "reason", any(turn.Reason(canary)), "took", time.Second)
	require.NotContains(t, out.String(), "canary-4711")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 8)
	var first map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &first))
	delete(first, "time")
	require.Equal(t, map[string]any{"level": "INFO", "msg": "turn failed", "session": "s-1", "n": 3.0, "reason": "deadline", "err_type": "errors.errorString", "ms": 1.5}, first)
	require.Contains(t, lines[4], `"session":"s-2","gen":4`)
}

func TestFilesArePrivateAndTurnOverBySize(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	log, closer, err := Open(home, Options{MaxMB: 1, Files: 2})
	require.NoError(t, err)
	line := strings.Repeat("x", 100)
	for i := range 9_000 {
		log.Info("a line of the log", "n", i, "session", line, "stage", line[:50])
	}
	require.NoError(t, closer.Close())
	dir := filepath.Join(home, FolderName)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.EqualValues(t, 0o700, info.Mode().Perm())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Greater(t, len(files), 1)
	for _, f := range files {
		info, err := f.Info()
		require.NoError(t, err)
		require.EqualValues(t, 0o600, info.Mode().Perm(), f.Name())
		require.LessOrEqual(t, info.Size(), int64(1<<20), f.Name())
		file, err := os.Open(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			require.True(t, json.Valid(lines.Bytes()), "no line is cut")
		}
		require.NoError(t, file.Close())
	}
}

func TestStrangePlacesAreRefused(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(home, FolderName)))
	_, _, err := Open(home, Options{})
	require.ErrorIs(t, err, safefile.ErrSymlink)
	home = t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, FolderName), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(t.TempDir(), "x"), filepath.Join(home, FolderName, FileName)))
	_, _, err = Open(home, Options{})
	require.ErrorIs(t, err, safefile.ErrSymlink)
	home = t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, FolderName), 0o700))
	path := filepath.Join(home, FolderName, FileName)
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	_, closer, err := Open(home, Options{})
	require.NoError(t, err)
	require.NoError(t, closer.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm(), "others could read it")
}
