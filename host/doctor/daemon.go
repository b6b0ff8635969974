package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"token-terminator/internal/safefile"
	"token-terminator/ledger"
)

// info is what daemon.json says, its token left out.
type info struct {
	PID     int       `json:"pid"`
	Socket  string    `json:"socket"`
	Address string    `json:"address"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
}

const maxInfo = 64 << 10

// errNotInfo: daemon.json does not describe a daemon.
var errNotInfo = errors.New("it describes no daemon")

func readInfo(path string) (info, error) {
	var i info
	data, err := safefile.ReadPrivate(path, maxInfo)
	if err != nil {
		return i, err
	}
	if json.Unmarshal(data, &i) != nil || i.PID <= 0 || i.Socket == "" && i.Address == "" {
		return i, errNotInfo
	}
	return i, nil
}

const startAdvice = "start it again with tt serve"

// daemon compares daemon.json, the lock, the process, the socket and the answer.
func (e *exam) daemon() {
	i, err := readInfo(e.path(infoName))
	held, lockErr := e.Machine.Locked(e.path(lockName))
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case lockErr != nil:
		e.warn("daemon", "look at the owner and mode of "+lockName, "its lock cannot be tried")
	case missing && !held:
		e.ok("daemon", "none is running")
		return
	case missing:
		e.warn("daemon", "try again in a moment", "one is starting or ending: %s is held and %s is not there", lockName, infoName)
		return
	case err != nil && !held:
		e.warn("daemon", "remove the file; no daemon is running", "%s cannot be used: %s", infoName, infoCause(err))
		return
	case err != nil:
		e.fail("daemon", "end the daemon and start it again with tt serve", "%s cannot be used and a daemon is running: %s", infoName, infoCause(err))
		return
	case !held:
		e.warn("daemon", "nothing need be done: the next one takes its place", "%s is of a daemon that ended without taking its leave", infoName)
		return
	}
	e.running(i, err)
}

func infoCause(err error) string {
	if errors.Is(err, errNotInfo) {
		return err.Error()
	}
	return "it " + cause(err)
}

// running looks at a daemon whose lock is held.
func (e *exam) running(i info, err error) {
	if err != nil {
		return
	}
	if alive, known := e.Machine.Alive(i.PID); known && !alive {
		e.fail("daemon", "end whatever holds "+lockName+", then "+startAdvice, "process %d of %s does not run, and something else holds the lock", i.PID, infoName)
		return
	}
	if !e.socket(i) {
		return
	}
	if e.Asker == nil {
		e.ok("daemon", "process %d runs", i.PID)
		return
	}
	ctx, cancel := context.WithTimeout(e.ctx, askWait)
	defer cancel()
	s, err := e.Asker.Status(ctx)
	if err != nil {
		e.fail("daemon", "end process "+strconv.Itoa(i.PID)+" and "+startAdvice, "it runs and does not answer")
		return
	}
	e.status = &s
	e.answers(i)
}

const askWait = 3 * time.Second

func (e *exam) answers(i info) {
	switch {
	case Older(i.Version, e.Version):
		e.warn("daemon", "end process "+strconv.Itoa(i.PID)+"; the next client starts the new one", "it is of an older version than this program")
	default:
		e.ok("daemon", "process %d runs and answers", i.PID)
	}
	if s := e.status.Engine; s != nil && s.State == "bypass" {
		e.fail("daemon", "see what the checks of vault and disk say, then "+startAdvice, "its store is down: every request passes unchanged")
	}
	if t := e.status.LastErrorType; t != nil {
		e.warn("daemon", "the log below logs/ names the moment and the stage", "its last error was of the type %s", plainWord(*t))
	}
	for _, warning := range e.status.Warnings {
		e.warn("daemon", "tt status shows the figures", "%s", warning)
	}
}

// plainWord keeps a type's name and nothing else.
func plainWord(s string) string {
	if len(s) > 80 || strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._*[]", r)
	}) {
		return "(not shown)"
	}
	return s
}

// socket says whether the socket is there and ours.
func (e *exam) socket(i info) bool {
	if i.Socket == "" {
		return true
	}
	at, err := os.Lstat(i.Socket)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.fail("daemon", "end process "+strconv.Itoa(i.PID)+" and "+startAdvice, "its socket is gone: somebody cleaned the temporary folder")
	case err != nil:
		e.fail("daemon", "look at the folder of the socket", "its socket cannot be looked at")
	case at.Mode()&fs.ModeSocket == 0:
		e.fail("daemon", "remove "+infoName+" and "+startAdvice, "what stands in the place of its socket is none")
	case !ours(at):
		e.fail("daemon", "remove "+infoName+" and "+startAdvice+"; find out who made that socket", "its socket belongs to another user")
	default:
		return true
	}
	return false
}

// Older says whether version a comes before b: numbers between dots are compared as
// numbers. Versions that cannot be compared are not older.
func Older(a, b string) bool {
	as, bs := strings.Split(strings.TrimPrefix(a, "v"), "."), strings.Split(strings.TrimPrefix(b, "v"), ".")
	for i := range min(len(as), len(bs)) {
		x, errX := strconv.Atoi(as[i])
		y, errY := strconv.Atoi(bs[i])
		if errX != nil || errY != nil {
			return false
		}
		if x != y {
			return x < y
		}
	}
	return false
}

const clockSlack = 5 * time.Minute

// clock looks for times that have not come yet.
func (e *exam) clock() {
	const advice = "set the machine's clock right; until then ages and forecasts are wrong, originals are not affected"
	if i, err := readInfo(e.path(infoName)); err == nil && i.Started.After(e.Now.Add(clockSlack)) {
		e.warn("clock", advice, "the daemon says that it started in the future")
		return
	}
	if e.Now.Year() < 2024 {
		e.warn("clock", advice, "it says the year %d", e.Now.Year())
		return
	}
	if r, err := ledger.OpenReading(e.ctx, e.ledgerFile()); err == nil {
		defer r.Close()
		sum, err := r.Totals(e.ctx, ledger.Filter{})
		if err == nil && sum.LastAt > e.Now.Add(clockSlack).UnixMilli() {
			e.warn("clock", advice, "the ledger has turns of the future: the clock was put back")
			return
		}
	}
	e.ok("clock", "no time of the future")
}
