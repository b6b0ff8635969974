// Package logs opens the daemon's log: JSON lines in a private folder, rotated by size.
//
// What lives here: the file, its rotation, and a guard that lets only ids, counts,
// reasons and type names through. What may not: a decision, a read of the log.
//
// A log line has a message of ours and attributes of a fixed set of names. A value that
// is an error is written as its type; a text longer than a name, or one under another
// name, is left out.
package logs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"unicode"

	"gopkg.in/natefinch/lumberjack.v2"

	"token-terminator/internal/safefile"
)

// Names below the home's folder.
const (
	FolderName = "logs"
	FileName   = "daemon.log"
)

// Options of a log. Zero values mean 10 MB, 5 closed files, level info.
type Options struct {
	MaxMB int // a file is closed at this size
	Files int // closed files kept
	Level slog.Level
}

// Open opens <home>/logs/daemon.log (folder 0700, file 0600; symbolic links and files of
// others are refused). Close the second value at the end.
func Open(home string, o Options) (*slog.Logger, io.Closer, error) {
	if o.MaxMB <= 0 {
		o.MaxMB = 10
	}
	if o.Files <= 0 {
		o.Files = 5
	}
	dir := filepath.Join(home, FolderName)
	if err := safefile.MakeDir(dir); err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, FileName)
	if _, err := safefile.SecureFile(path); err != nil { // its mode is that of every file after it
		return nil, nil, err
	}
	file := &lumberjack.Logger{Filename: path, MaxSize: o.MaxMB, MaxBackups: o.Files}
	return New(file, o.Level), file, nil
}

// New is a guarded logger over any writer.
func New(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(guard{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})})
}

// names are the attributes a log may have: ids, counts, reasons, type names.
var names = map[string]bool{
	"engine": true, "session": true, "turn": true, "gen": true, "generation": true, "attempt": true, "stage": true, "actor": true,
	"reason": true, "decision": true, "n": true, "count": true, "bytes": true, "tokens": true, "ms": true, "err_type": true,
	"error_type": true, "type": true, "pid": true, "version": true, "protocol": true, "kind": true, "mode": true, "schema": true,
	"level": true, "percent": true, "dropped": true, "failed": true, "restarts": true, "turns": true, "sessions": true,
}

const maxText = 120

// guard drops what is not of the fixed set.
type guard struct{ next slog.Handler }

// Enabled implements slog.Handler.
func (g guard) Enabled(ctx context.Context, level slog.Level) bool { return g.next.Enabled(ctx, level) }

// Handle implements slog.Handler.
func (g guard) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, message(r.Message), 0)
	r.Attrs(func(a slog.Attr) bool {
		if a, ok := allowed(a); ok {
			clean.AddAttrs(a)
		}
		return true
	})
	return g.next.Handle(ctx, clean)
}

// WithAttrs implements slog.Handler.
func (g guard) WithAttrs(attrs []slog.Attr) slog.Handler {
	var kept []slog.Attr
	for _, a := range attrs {
		if a, ok := allowed(a); ok {
			kept = append(kept, a)
		}
	}
	return guard{g.next.WithAttrs(kept)}
}

// WithGroup implements slog.Handler. Groups are names of nobody's: their attributes
// stand in the line itself.
func (g guard) WithGroup(string) slog.Handler { return g }

// allowed is an attribute as it may be written.
func allowed(a slog.Attr) (slog.Attr, bool) {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindInt64, slog.KindUint64, slog.KindFloat64, slog.KindBool, slog.KindDuration, slog.KindTime:
		return slog.Attr{Key: a.Key, Value: v}, names[a.Key]
	case slog.KindString:
		return slog.String(a.Key, word(v.String())), names[a.Key]
	case slog.KindAny:
		return typeOf(a.Key, v.Any())
	}
	return slog.Attr{}, false
}

// typeOf writes a value by its type; one whose own kind is text (a reason) as that.
func typeOf(key string, v any) (slog.Attr, bool) {
	if err, ok := v.(error); ok {
		return slog.String("err_type", strings.TrimPrefix(fmt.Sprintf("%T", err), "*")), true
	}
	if text, ok := stringKind(v); ok {
		return slog.String(key, word(text)), names[key]
	}
	return slog.String(key, fmt.Sprintf("%T", v)), names[key]
}

// word is a short name: letters, digits and a few signs. Any other text is a content
// nobody meant to log.
func word(s string) string {
	if len(s) > maxText || strings.ContainsFunc(s, func(r rune) bool {
		return !(r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-:+*@#~[]", r)))
	}) {
		return "[not shown]"
	}
	return s
}

// message is one of ours: plain words.
func message(s string) string {
	if len(s) > maxText || strings.ContainsFunc(s, func(r rune) bool { return r >= unicode.MaxASCII || unicode.IsControl(r) }) {
		return "[not shown]"
	}
	return s
}
