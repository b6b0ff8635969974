package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"token-terminator/internal/amount"
	"token-terminator/turn"
	"token-terminator/vault"
)

// page says how an original is written: whole, or one page as JSON.
type page struct {
	json          bool
	offset, limit int
}

// recovered is tt recover ID --json.
type recovered struct {
	ID         string `json:"artifact_id"`
	Content    string `json:"content"`
	Offset     int    `json:"offset"`
	NextOffset *int   `json:"next_offset"`
	TotalChars int    `json:"total_chars"`
	SHA256     string `json:"sha256"`
}

func recoverVerb() verb {
	v := verb{
		name: "recover", summary: "write the exact original behind an id to stdout",
		usage: "ID [flags]",
		help: `ID is what a marker shows, or any unique prefix of 8 or more hex digits; the whole
marker in quotes will do as well.

Examples:
  tt recover a_1234abcd > original.log
  tt recover a_1234abcd --json --offset 8000 --limit 8000
`,
	}
	v.run = func(s *stage, args []string) error {
		var f vaultFlags
		fs := newFlags(s, v)
		f.bind(fs)
		rest, err := parse(fs, args)
		if err != nil {
			return err
		}
		if len(rest) != 1 {
			return usagef("recover takes one id, got %s", amount.Of(len(rest), "argument")).try("tt recover a_1234abcd")
		}
		return f.run(s, "get", []string{idIn(rest[0])})
	}
	return v
}

// idIn takes the id out of a whole marker, so that one can be pasted as it is.
func idIn(text string) string {
	if _, after, found := strings.Cut(text, "artifact_id="); found {
		id, _, _ := strings.Cut(after, " ")
		return strings.TrimRight(id, "]")
	}
	return text
}

// writeOriginal writes an artifact's exact bytes, or one page of it as JSON.
func writeOriginal(ctx context.Context, s *stage, v *vault.Vault, session, id string, p page) error {
	if !p.json {
		if p.offset != 0 || p.limit != 0 {
			return usagef("--offset and --limit go with --json").try("tt recover ID --json --offset N --limit M")
		}
		a, err := v.Get(ctx, session, id)
		if err != nil {
			return lookup(err, id)
		}
		_, err = io.WriteString(s.stdout, a.Text)
		return err
	}
	got, err := v.Page(ctx, session, id, p.offset, p.limit)
	if err != nil {
		return lookup(err, id)
	}
	if p.limit > vault.MaxPage && got.NextOffset != nil {
		fmt.Fprintf(s.stderr, "a page is at most %d code points; the next one begins at --offset %d\n", vault.MaxPage, *got.NextOffset)
	}
	return printJSON(s.stdout, recovered{
		ID: string(got.ID), Content: got.Content, Offset: got.Offset, NextOffset: got.NextOffset,
		TotalChars: got.TotalChars, SHA256: got.Digest.String(),
	})
}

// lookup adds to a failed look-up what a person can do.
func lookup(err error, id string) error {
	f := storage(err)
	if f.hint != "" {
		return f
	}
	if id != "" {
		id = " (looked for " + id + ")"
	}
	for _, known := range []struct {
		err  error
		hint string
	}{
		{vault.ErrUnknown, "tt vault list shows what is there; --vault DIR names another vault" + id},
		{vault.ErrAmbiguous, "give more digits of the id"},
		{turn.ErrBadArtifactID, "an id is a_ and 8 to 64 digits 0-9 and a-f, as a marker shows it"},
		{vault.ErrNotYours, "leave --session out, or name the chain that owns it"},
		{vault.ErrRange, "offsets and limits count code points; a page is at most 20,000"},
		{vault.ErrDamaged, "tt vault verify lists what is damaged; a copy of the vault, or running the session again, brings it back"},
		{vault.ErrLost, "a copy of the vault, or running the session again, brings it back"},
	} {
		if errors.Is(err, known.err) {
			f.hint = known.hint
		}
	}
	return f
}

func vaultFile(folder string) string { return filepath.Join(folder, vault.FileName) }
