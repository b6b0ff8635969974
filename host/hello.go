package host

import (
	"crypto/subtle"
	"errors"
	"path/filepath"
	"strings"

	"token-terminator/host/wire"
	"token-terminator/turn"
)

// SettingPrefix begins every setting that may stand in a hello.
const SettingPrefix = "TOKEN_TERMINATOR_"

// Secret says whether a setting's name is one of a key or a password. Such a value
// never travels.
func Secret(name string) bool {
	for _, end := range []string{"_KEY", "_SECRET", "_PASSWORD", "_CREDENTIAL", "_CREDENTIALS", "_BEARER"} {
		if strings.HasSuffix(strings.ToUpper(name), end) {
			return true
		}
	}
	return false
}

// Sendable picks from an environment what a hello may carry.
func Sendable(environ []string) map[string]string {
	out := map[string]string{}
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		if strings.HasPrefix(name, SettingPrefix) && !Secret(name) {
			out[name] = value
		}
	}
	return out
}

// checkHello says why a client may not come in, nil when it may.
func (s *Server) checkHello(h *wire.Hello) *Refusal {
	if s.info.Token != "" && subtle.ConstantTimeCompare([]byte(h.Token), []byte(s.info.Token)) != 1 {
		return &Refusal{Code: wire.ErrorToken, Detail: "daemon.json holds it"}
	}
	if h.Protocol != wire.Protocol {
		return &Refusal{Code: wire.Unsupported, Detail: "this daemon speaks protocol 1"}
	}
	if !s.isHome(h.Home) {
		return &Refusal{Code: wire.ErrorWrongHome, Detail: "this daemon serves another home"}
	}
	for name := range h.Env {
		switch {
		case !strings.HasPrefix(name, SettingPrefix):
			return &Refusal{Code: wire.ErrorSetting, Detail: "settings begin with " + SettingPrefix}
		case Secret(name):
			return &Refusal{Code: wire.ErrorSecret, Detail: "keys come from the daemon's own environment"}
		}
	}
	return nil
}

// isHome says whether path is the home, or our folder in it, however it is spelled.
func (s *Server) isHome(path string) bool {
	folder := s.lease.Folder
	home := homeOf(folder)
	if path == "" || path == folder || path == home {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	for _, ours := range []string{folder, home} {
		if at, err := filepath.EvalSymlinks(ours); err == nil && at == real {
			return true
		}
	}
	return false
}

// failure is a Failure with its id, when that is known.
func failure(id uint64, known bool, code, detail string) wire.Failure {
	f := wire.Failure{Error: code, Message: detail}
	if known {
		f.ID = &id
	}
	return f
}

// refusal is what a backend's error may say outside.
func refusal(id uint64, err error) wire.Failure {
	var told *Refusal
	if errors.As(err, &told) {
		return failure(id, true, told.Code, told.Detail)
	}
	return failure(id, true, wire.ErrorInternal, "")
}

// passOr is the answer that lets the caller go on with what it has, for the kinds that
// have one, else a Failure.
func passOr(kind wire.Kind, id uint64, known bool, reason turn.Reason, code string) any {
	if !known {
		return failure(id, false, code, "")
	}
	switch kind {
	case wire.KindTurn:
		return wire.TurnAnswer{ID: id, Decision: wire.Pass, Reason: reason}
	case wire.KindResult:
		return wire.ResultAnswer{ID: id, Decision: wire.Pass, Reason: reason}
	case wire.KindCommand:
		return wire.CommandAnswer{ID: id, Decision: wire.Pass, Reason: reason}
	}
	return failure(id, known, code, "")
}
