package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"token-terminator/host/settings"
	"token-terminator/host/watch"
	"token-terminator/internal/sqlitefile"
	"token-terminator/ledger"
	"token-terminator/turn"
	"token-terminator/vault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const canary = "canary-4711"

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// template is a healthy folder with one original and one recorded turn, made once.
var template = sync.OnceValues(func() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "tt-doctor")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	clock := func() time.Time { return now }
	v, err := vault.Open(dir, vault.Options{Synchronous: "OFF", Now: clock})
	if err != nil {
		return nil, err
	}
	text := strings.Repeat("a line of a log\n", 200)
	_, putErr := v.Put(context.Background(), turn.Evidence{
		Binding: turn.Binding{Session: "s", Turn: 1, Attempt: 1}, Artifacts: []turn.Artifact{{Digest: turn.Sum(text), Text: text, Tool: "bash"}},
	})
	l, err := ledger.Open(context.Background(), filepath.Join(dir, ledger.FileName), ledger.Options{Synchronous: "OFF", Now: clock})
	if err := errors.Join(putErr, v.Close(), err); err != nil {
		return nil, err
	}
	l.Record(ledger.Turn{Binding: turn.Binding{Session: "s", Turn: 1}, Edited: true, Reason: turn.Reduced})
	if err := l.Close(); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range []string{vault.FileName, vault.MarkerKeyName, ledger.FileName} {
		if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	return files, nil
})

// home is a copy of the template.
func home(t *testing.T) Home {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "token-terminator")
	require.NoError(t, os.Mkdir(folder, 0o700))
	files, err := template()
	require.NoError(t, err)
	for name, data := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), data, 0o600))
	}
	set, err := settings.Load(settings.Sources{})
	require.NoError(t, err)
	return Home{
		Folder: folder, Version: "0.2.0", Settings: set, Now: now,
		Machine: Machine{Disk: func(string) (Disk, error) { return Disk{Free: 50 << 30, Total: 90 << 30, Known: true}, nil }},
	}
}

// worst gives the findings that are not ok, "status check: what".
func worst(r Report) (out []string) {
	for _, f := range r.Findings {
		if f.Status != OK {
			out = append(out, fmt.Sprintf("%s %s: %s", f.Status, f.Check, f.What))
		}
	}
	return out
}

func look(t *testing.T, h Home) Report {
	t.Helper()
	r := Look(context.Background(), h)
	for _, f := range r.Findings {
		require.Equal(t, f.Status == OK, f.Advice == "", "%s: what is not ok says what to do", f.Check)
		require.NotContains(t, f.What+f.Advice, canary, f.Check)
		require.NotContains(t, f.What+f.Advice, h.Folder, f.Check)
	}
	return r
}

func TestAHealthyHomeAndAnEmptyOne(t *testing.T) {
	t.Parallel()
	r := look(t, home(t))
	require.Empty(t, worst(r))
	var checks []string
	for _, f := range r.Findings {
		checks = append(checks, f.Check)
	}
	require.Equal(t, []string{"folder", "files", "disk", "settings", "daemon", "vault", "capacity", "marker key", "ledger", "traffic", "clock", "leftovers"}, checks)
	empty := home(t)
	empty.Folder = filepath.Join(t.TempDir(), "none")
	require.Empty(t, worst(look(t, empty)))
	require.NoDirExists(t, empty.Folder, "nothing is made")
	var text strings.Builder
	require.NoError(t, WriteText(&text, r))
	require.Contains(t, text.String(), "0 checks failed, 0 warn.")
}

func write(t *testing.T, h Home, name, data string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(h.Folder, name), []byte(data), 0o600))
}

func TestWhatIsWrongIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(t *testing.T, h *Home)
		want  []string
	}{
		"an open folder": {func(t *testing.T, h *Home) { require.NoError(t, os.Chmod(h.Folder, 0o755)) }, []string{"warn folder: other users may list it"}},
		"an open file": {func(t *testing.T, h *Home) {
			require.NoError(t, os.Chmod(filepath.Join(h.Folder, vault.FileName), 0o644))
		}, []string{"warn files: other users may read vault.sqlite3"}},
		"a linked file": {func(t *testing.T, h *Home) {
			require.NoError(t, os.Symlink("/dev/null", filepath.Join(h.Folder, "daemon.lock")))
		}, []string{"fail files: daemon.lock cannot be used: it is a symbolic link", "warn daemon: its lock cannot be tried"}},
		"a full disk": {func(_ *testing.T, h *Home) {
			h.Machine.Disk = func(string) (Disk, error) { return Disk{Free: 5 << 20, Total: 90 << 30}, nil }
		}, []string{"fail disk: 5 MB are left on the vault's disk"}},
		"a disk nearly full": {func(_ *testing.T, h *Home) {
			h.Machine.Disk = func(string) (Disk, error) { return Disk{Free: 500 << 20, Total: 90 << 30}, nil }
		}, []string{"warn disk: 500 MB are left on the vault's disk"}},
		"a network": {func(_ *testing.T, h *Home) {
			h.Machine.Disk = func(string) (Disk, error) { return Disk{Network: "nfs", Known: true}, nil }
		}, []string{"fail disk: the vault lies on a network file system (nfs), whose locks cannot be relied on"}},
		"a disk that cannot be asked": {func(_ *testing.T, h *Home) {
			h.Machine.Disk = func(string) (Disk, error) { return Disk{}, errors.New(canary) }
		}, []string{"warn disk: the file system cannot be asked"}},
		"a check that breaks": {func(_ *testing.T, h *Home) {
			h.Machine.Disk = func(string) (Disk, error) { panic(canary) }
		}, []string{"fail disk: the check itself broke (string)"}},
		"bad settings": {func(_ *testing.T, h *Home) {
			_, h.Config = settings.ParseFile("/home/"+canary+"/config.toml", []byte("head_line = 3\n"))
		}, []string{"fail settings: config.toml line 1: key head_line: there is no such setting; the nearest is head_lines"}},
		"switched off": {func(t *testing.T, h *Home) {
			h.Settings = with(t, "MODE", "off")
		}, []string{"warn settings: it is switched off: nothing is shown smaller"}},
		"only measuring": {func(t *testing.T, h *Home) {
			h.Settings = with(t, "MODE", "suggest")
		}, []string{"warn settings: the mode is suggest: everything is measured and nothing changed"}},
		"a setting nobody knows": {func(t *testing.T, h *Home) {
			h.Settings = with(t, "HEAD_LINE", canary)
		}, []string{"warn settings: TOKEN_TERMINATOR_HEAD_LINE is no setting; the nearest is HEAD_LINES"}},
		"a damaged original": {func(t *testing.T, h *Home) {
			db, err := sqlitefile.OpenWriter(t.Context(), filepath.Join(h.Folder, vault.FileName), sqlitefile.Options{})
			require.NoError(t, err)
			_, err = db.Exec("UPDATE bodies SET body = zeroblob(length(body))")
			require.NoError(t, errors.Join(err, db.Close()))
		}, []string{"fail vault: 1 of the 1 newest originals do not match their hash"}},
		"no vault file": {func(t *testing.T, h *Home) { write(t, *h, vault.FileName, strings.Repeat("no database ", 900)) },
			[]string{"fail vault: it cannot be opened: the file is no SQLite database"}},
		"a red vault": {func(t *testing.T, h *Home) { h.Settings = with(t, "VAULT_MAX_BYTES", "4000") }, nil},
		"no key": {func(t *testing.T, h *Home) {
			require.NoError(t, os.Remove(filepath.Join(h.Folder, vault.MarkerKeyName)))
		}, []string{"warn marker key: it is missing: markers written before are no longer recognised as ours"}},
		"a short key": {func(t *testing.T, h *Home) { write(t, *h, vault.MarkerKeyName, "short") },
			[]string{"fail vault: it cannot be opened: the marker key must be 32 bytes", "fail marker key: it has 5 bytes, want 32"}},
		"a damaged ledger": {func(t *testing.T, h *Home) { write(t, *h, ledger.FileName, strings.Repeat("x", 9000)) },
			[]string{"warn ledger: it cannot be opened (the file is no SQLite database): turns are not recorded, requests are not affected"}},
		"no traffic": {func(_ *testing.T, h *Home) { h.Now = now.AddDate(0, 0, 9) },
			[]string{"warn traffic: no turn came in the last seven days"}},
		"a clock put back": {func(_ *testing.T, h *Home) { h.Now = now.Add(-time.Hour) },
			[]string{"warn clock: the ledger has turns of the future: the clock was put back"}},
		"an impossible year": {func(_ *testing.T, h *Home) { h.Now = time.Unix(0, 0).UTC() }, []string{"warn clock: it says the year 1970"}},
		"leftovers": {func(t *testing.T, h *Home) {
			for _, name := range []string{"vault.sqlite3.part", "vault.sqlite3.part-journal", "vault.sqlite3.before-20260301", ".new-123"} {
				write(t, *h, name, "")
			}
		}, []string{"warn leftovers: 2 files of a copy or migration that did not end lie beside the vault", "warn leftovers: 1 files of a write that did not end lie beside the vault", "warn leftovers: 1 files that a restore moved aside take space"}},
		"a folder that is a file": {func(t *testing.T, h *Home) {
			h.Folder = filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(h.Folder, nil, 0o600))
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := home(t)
			c.spoil(t, &h)
			got := worst(look(t, h))
			require.NotEmpty(t, got)
			if c.want != nil {
				require.Equal(t, c.want, got)
			}
		})
	}
}

func with(t *testing.T, name, value string) settings.Settings {
	t.Helper()
	s, err := settings.Load(settings.Sources{Env: map[string]string{settings.Prefix + name: value}})
	require.NoError(t, err)
	return s
}

func TestCapacityIsForecast(t *testing.T) {
	t.Parallel()
	soon, later := now.AddDate(0, 0, 9), now.AddDate(1, 0, 0)
	for name, c := range map[string]struct {
		status vault.Status
		want   Status
		what   string
	}{
		"plenty":    {vault.Status{Percent: 3, Level: vault.LevelOK, Forecast: vault.Forecast{WarnAt: &later}}, OK, "the vault is 3.0 % full"},
		"soon":      {vault.Status{Percent: 60, Level: vault.LevelOK, Forecast: vault.Forecast{WarnAt: &soon}}, Warn, "the vault is 60 % full; 70 % are reached about 2026-03-10"},
		"a warning": {vault.Status{Percent: 75, Level: vault.LevelWarning, Forecast: vault.Forecast{RedAt: &soon}}, Warn, "the vault is 75 % full, and 90 % are reached about 2026-03-10"},
		"no growth": {vault.Status{Percent: 75, Level: vault.LevelWarning}, Warn, "the vault is 75 % full"},
		"red":       {vault.Status{Percent: 95, Level: vault.LevelRed}, Fail, "the vault is 95 % full; when it is full, requests pass unchanged"},
	} {
		e := &exam{Home: Home{Now: now}}
		e.capacity(c.status)
		require.Equal(t, c.want, e.out[0].Status, name)
		require.Equal(t, c.what, e.out[0].What, name)
	}
}

type asked struct {
	status watch.Status
	err    error
}

func (a asked) Status(context.Context) (watch.Status, error) { return a.status, a.err }

func TestTheDaemonsFilesLockProcessAndAnswerAreCompared(t *testing.T) {
	t.Parallel()
	socket := func(t *testing.T) string {
		dir, err := os.MkdirTemp("", "tt-doctor") // a short path: sockets have a limit
		require.NoError(t, err)
		ln, err := net.Listen("unix", filepath.Join(dir, "s"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = ln.Close(); _ = os.RemoveAll(dir) })
		return ln.Addr().String()
	}
	full, dead := "full", canary+" words of somebody"
	good := watch.Status{Engine: &watch.Engine{State: "on"}, Warnings: []string{}}
	for name, c := range map[string]struct {
		info   string // %s: a live socket
		held   bool
		gone   bool // the process
		ask    Asker
		want   string
		status Status
	}{
		"none":              {want: "none is running", status: OK},
		"starting":          {held: true, want: "one is starting or ending: daemon.lock is held and daemon.json is not there", status: Warn},
		"stale":             {info: `{"pid":7,"socket":"%s","version":"0.2.0"}`, want: "daemon.json is of a daemon that ended without taking its leave", status: Warn},
		"not JSON, none":    {info: "no", want: "daemon.json cannot be used: it describes no daemon", status: Warn},
		"not JSON, running": {info: `{"pid":0}`, held: true, want: "daemon.json cannot be used and a daemon is running: it describes no daemon", status: Fail},
		"dead process":      {info: `{"pid":7,"socket":"%s"}`, held: true, gone: true, want: "process 7 of daemon.json does not run, and something else holds the lock", status: Fail},
		"no socket":         {info: `{"pid":7,"socket":"/nowhere/s"}`, held: true, want: "its socket is gone: somebody cleaned the temporary folder", status: Fail},
		"not a socket":      {info: `{"pid":7,"socket":"/dev/null"}`, held: true, want: "what stands in the place of its socket is none", status: Fail},
		"unreachable":       {info: `{"pid":7,"socket":"%s"}`, held: true, ask: asked{err: errors.New(canary)}, want: "it runs and does not answer", status: Fail},
		"not asked":         {info: `{"pid":7,"socket":"%s"}`, held: true, want: "process 7 runs", status: OK},
		"well":              {info: `{"pid":7,"socket":"%s","version":"0.2.0"}`, held: true, ask: asked{status: good}, want: "process 7 runs and answers", status: OK},
		"an address":        {info: `{"pid":7,"address":"127.0.0.1:9","version":"0.3.0","token":"` + canary + `"}`, held: true, ask: asked{status: good}, want: "process 7 runs and answers", status: OK},
		"older":             {info: `{"pid":7,"socket":"%s","version":"0.1.9"}`, held: true, ask: asked{status: good}, want: "it is of an older version than this program", status: Warn},
		"bypass":            {info: `{"pid":7,"socket":"%s"}`, held: true, ask: asked{status: watch.Status{Engine: &watch.Engine{State: "bypass"}}}, want: "its store is down: every request passes unchanged", status: Fail},
		"an error":          {info: `{"pid":7,"socket":"%s"}`, held: true, ask: asked{status: watch.Status{LastErrorType: &full}}, want: "its last error was of the type full", status: Warn},
		"no type":           {info: `{"pid":7,"socket":"%s"}`, held: true, ask: asked{status: watch.Status{LastErrorType: &dead}}, want: "its last error was of the type (not shown)", status: Warn},
		"the future":        {info: `{"pid":7,"socket":"%s","started":"2027-01-01T00:00:00Z"}`, want: "the daemon says that it started in the future", status: Warn},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := home(t)
			if c.info != "" {
				info := c.info
				if strings.Contains(info, "%s") {
					info = fmt.Sprintf(info, socket(t))
				}
				write(t, h, infoName, info)
			}
			h.Asker = c.ask
			h.Machine.Locked = func(string) (bool, error) { return c.held, nil }
			h.Machine.Alive = func(int) (bool, bool) { return !c.gone, true }
			var found []Finding
			for _, f := range look(t, h).Findings {
				if f.What == c.want {
					found = append(found, f)
				}
			}
			require.Len(t, found, 1)
			require.Equal(t, c.status, found[0].Status)
		})
	}
}

func TestTheRealMachineAnswers(t *testing.T) {
	t.Parallel()
	m := Machine{}.filled()
	_, err := m.Disk(t.TempDir())
	require.NoError(t, err)
	if yes, known := m.Alive(os.Getpid()); known {
		require.True(t, yes)
	}
	path := filepath.Join(t.TempDir(), lockName)
	held, err := m.Locked(path)
	require.NoError(t, err)
	require.False(t, held)
	require.NoFileExists(t, path)
}

func TestOlder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{{"0.1.0", "0.2.0", true}, {"0.9.0", "0.10.0", true}, {"0.2.0", "0.2.0", false}, {"1.0.0", "0.9.9", false}, {"", "0.1.0", false}, {"dev", "0.1.0", false}, {"v0.1", "v0.2", true}} {
		require.Equal(t, c.want, Older(c.a, c.b), c)
	}
}

func FuzzDaemonInfo(f *testing.F) {
	for _, seed := range []string{`{"pid":7,"socket":"/x"}`, `{"pid":-1}`, `[]`, `{"pid":1e99,"address":"a"}`, "\xff", `{"pid":7,"socket":"/x","started":"never"}`} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), infoName)
	f.Fuzz(func(t *testing.T, data []byte) {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		i, err := readInfo(path)
		if err == nil {
			require.True(t, json.Valid(data))
			require.Positive(t, i.PID)
		}
	})
}

// What the user may not write or open fails before anything is stored there.
func TestWhatMayNotBeWrittenFails(t *testing.T) {
	t.Parallel()
	deny := func(h Home, what string, read bool) Home {
		h.Machine.May = func(path string, write bool) bool {
			return filepath.Base(path) != what || !write && read
		}
		return h
	}
	h := home(t)
	require.Equal(t, []string{"fail files: vault.sqlite3 may not be read and written by your user"}, worst(look(t, deny(h, vault.FileName, true))))
	require.Contains(t, worst(look(t, deny(h, "token-terminator", true)))[0], "fail folder: your user may not open it and write in it")
	shut := worst(look(t, deny(h, "token-terminator", false)))
	require.Equal(t, "fail files: they cannot be looked at", shut[1])
	none := h
	none.Folder = filepath.Join(filepath.Dir(h.Folder), "nosuch", "x", "token-terminator")
	none.Machine.May = func(path string, write bool) bool { return path != filepath.Dir(h.Folder) || !write }
	require.Contains(t, worst(look(t, none))[0], "fail folder: there is none, and it cannot be made")
}
