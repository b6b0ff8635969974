package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"token-terminator/internal/safefile"
)

// Names of the daemon's files in a home's folder.
const (
	InfoName = "daemon.json"
	LockName = "daemon.lock"
	// FolderName is the folder of ours inside a home.
	FolderName = "token-terminator"
)

// maxInfo bounds daemon.json and daemon.lock, in bytes.
const maxInfo = 64 << 10

// Info is daemon.json: where the daemon of a home listens.
type Info struct {
	PID     int       `json:"pid"`
	Socket  string    `json:"socket,omitempty"`  // path of the unix socket
	Address string    `json:"address,omitempty"` // 127.0.0.1:port, where there are no unix sockets
	Token   string    `json:"token,omitempty"`   // hex; a client on Address must say it
	HTTP    string    `json:"http,omitempty"`    // loopback address of status and metrics, when served
	Version string    `json:"version"`
	Started time.Time `json:"started"`
}

// ErrNoDaemon says that a home has no daemon.
var ErrNoDaemon = errors.New("no daemon runs for this home")

// ReadInfo reads daemon.json in folder. Without one the error is ErrNoDaemon.
func ReadInfo(folder string) (Info, error) {
	var info Info
	data, err := safefile.ReadPrivate(filepath.Join(folder, InfoName), maxInfo)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return info, ErrNoDaemon
	case err != nil:
		return info, err
	}
	if err := json.Unmarshal(data, &info); err != nil || info.Socket == "" && info.Address == "" {
		return info, fmt.Errorf("read %s: it is no description of a daemon; remove it", InfoName)
	}
	return info, nil
}

func writeInfo(folder string, info Info) error {
	data, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return err
	}
	return safefile.Overwrite(filepath.Join(folder, InfoName), append(data, '\n'))
}

// homeOf is the home a folder of ours belongs to: its parent, when it has our name,
// else itself.
func homeOf(folder string) string {
	if filepath.Base(folder) == FolderName {
		return filepath.Dir(folder)
	}
	return folder
}

// maxSocketPath is the longest path a socket may have on any system we know, in bytes.
const maxSocketPath = 103

// socketPath is where the daemon of folder listens: in our folder of the user's
// runtime folder, else of the system's temporary folder. Both are private.
func socketPath(folder, runtimeDir, tempDir string) (string, error) {
	sum := sha256.Sum256([]byte(homeOf(folder)))
	name := hex.EncodeToString(sum[:8]) + ".sock"
	shared := filepath.Join(tempDir, FolderName+"-"+strconv.Itoa(os.Getuid()))
	for _, dir := range []string{filepath.Join(runtimeDir, FolderName), shared} {
		if !filepath.IsAbs(dir) || len(filepath.Join(dir, name)) > maxSocketPath {
			continue // no folder, one that means another place to each program, or too long a path
		}
		if err := privateDir(dir); err != nil {
			return "", err
		}
		return filepath.Join(dir, name), nil
	}
	return "", &safefile.Error{Op: "place socket", Path: shared, Err: errors.New("the path is relative or too long for a socket"), Advice: "set TMPDIR or XDG_RUNTIME_DIR to a shorter folder of your own"}
}

// privateDir makes sure that nobody else can look into dir.
func privateDir(dir string) error {
	if err := safefile.MakeDir(dir); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm() != safefile.DirMode {
		return os.Chmod(dir, safefile.DirMode)
	}
	return nil
}

// removeStale removes what an ended daemon left at path. Only the holder of the lock
// may call it.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&os.ModeSocket == 0:
		return &safefile.Error{Op: "place socket", Path: path, Err: errors.New("something that is no socket stands there"), Advice: "move it away"}
	}
	return os.Remove(path)
}
