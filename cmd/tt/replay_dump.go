package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"token-terminator/datasets"
	"token-terminator/reduce/compile"
	"token-terminator/turn"
	"token-terminator/vault"
)

// dumper writes what a replay received and sent, turn by turn.
type dumper struct {
	dir, key string // the folder; the list that messages stand in
}

func newDumper(dump string, s datasets.Session) *dumper {
	if dump == "" {
		return nil
	}
	return &dumper{filepath.Join(dump, s.DumpName()), s.Key()}
}

// dumpedForm is one changed string in a .forms.json.
type dumpedForm struct {
	Pointer    string          `json:"pointer"`
	Form       turn.Form       `json:"form"`
	Reason     turn.Reason     `json:"reason"`
	ArtifactID turn.ArtifactID `json:"artifact_id"`
	ShownID    *string         `json:"shown_id"`
	Bases      []string        `json:"bases"`
}

// turn writes one turn; i counts from 0, file names from 0001.
func (d *dumper) turn(i int, in, out []byte, blocks []compile.Block) error {
	if d == nil {
		return nil
	}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	forms := []dumpedForm{}
	for _, b := range blocks {
		form := dumpedForm{
			Pointer: d.pointer(b.Message, b.Decision.Block), Form: b.Decision.Form, Reason: b.Decision.Reason,
			ArtifactID: b.Decision.Artifact, Bases: []string{},
		}
		if id := b.Decision.ShownID(); id != "" {
			form.ShownID = &id
		}
		for _, base := range b.Decision.Bases {
			form.Bases = append(form.Bases, d.pointer(base.Message, base.Block))
		}
		forms = append(forms, form)
	}
	list, err := json.Marshal(forms)
	if err != nil {
		return err
	}
	name := filepath.Join(d.dir, fmt.Sprintf("%04d", i+1))
	for _, file := range []struct {
		ext  string
		data []byte
	}{{".in.json", in}, {".out.json", out}, {".forms.json", list}} {
		if err := os.WriteFile(name+file.ext, file.data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (d *dumper) pointer(message int, block string) string {
	return "/" + d.key + "/" + strconv.Itoa(message) + block
}

// recoveries reads back every artifact any form named, from the closed and reopened
// vault, and compares its hash with that of the text that was replaced.
func (r *replay) recoveries(ctx context.Context, runs []*sessionRun) error {
	v, err := vault.Open(r.folder, vault.Options{ReadOnly: true})
	if err != nil {
		return storage(err)
	}
	defer v.Close()
	for _, run := range runs {
		for _, e := range run.evidence {
			run.figures.RecoveriesChecked++
			artifact, err := v.Get(ctx, run.session.ID, string(e.id))
			if err != nil || turn.Sum(artifact.Text) != e.want {
				run.figures.RecoveriesFailed++
			}
		}
	}
	return nil
}
