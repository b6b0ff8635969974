package actors

import (
	"context"
	"fmt"
	"log/slog"
)

// redactor keeps what the actor library logs free of content: the library prints
// panic values and whole undelivered messages. Of every attribute only the type of
// its value is left, and of every record only a text from a fixed list.
type redactor struct{ next slog.Handler }

var libraryTexts = map[string]bool{
	"actor system started":   true,
	"[ACTOR] Recovering":     true,
	"[DeadLetter]":           true,
	"[SUPERVISION]":          true,
	"unknown system message": true,
}

// Enabled implements slog.Handler.
func (r redactor) Enabled(ctx context.Context, level slog.Level) bool {
	return r.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (r redactor) Handle(ctx context.Context, rec slog.Record) error {
	text := rec.Message
	if !libraryTexts[text] {
		text = "actor library"
	}
	clean := slog.NewRecord(rec.Time, rec.Level, text, 0)
	rec.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(typeOnly(a))
		return true
	})
	return r.next.Handle(ctx, clean)
}

// WithAttrs implements slog.Handler.
func (r redactor) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = typeOnly(a)
	}
	return redactor{r.next.WithAttrs(clean)}
}

// WithGroup implements slog.Handler.
func (r redactor) WithGroup(name string) slog.Handler { return redactor{r.next.WithGroup(name)} }

func typeOnly(a slog.Attr) slog.Attr {
	return slog.String(a.Key, typeName(a.Value.Any()))
}

// typeName is all that may be said of an error, a panic value or a message.
func typeName(v any) string { return fmt.Sprintf("%T", v) }
