package vault

import (
	"context"
	"fmt"
	"time"

	"token-terminator/vault/view"
)

// getter is the one verified door out: every view goes through it.
type getter interface {
	Get(ctx context.Context, session, id string) (Artifact, error)
}

// views are the bounded reads any verified Get can serve.
type views struct{ from getter }

// Page gives limit code points from offset on; 0 means DefaultPage, more than MaxPage
// means MaxPage. NextOffset is nil at the end, and an offset past it gives an empty page.
func (v views) Page(ctx context.Context, session, id string, offset, limit int) (Page, error) {
	a, err := v.from.Get(ctx, session, id)
	if err != nil {
		return Page{}, err
	}
	p, err := view.PageOf(a.Text, offset, limit)
	if err != nil {
		return Page{}, err
	}
	return Page{ID: a.ID, Page: p, Digest: a.Digest, Tool: a.Tool}, nil
}

// Lines gives whole lines from to to (from 1, both included), at most MaxPage code points.
func (v views) Lines(ctx context.Context, session, id string, from, to int) (Lines, error) {
	a, err := v.from.Get(ctx, session, id)
	if err != nil {
		return Lines{}, err
	}
	l, err := view.LinesOf(a.Text, from, to)
	if err != nil {
		return Lines{}, err
	}
	return Lines{ID: a.ID, Lines: l, Digest: a.Digest}, nil
}

// Peek gives a first look whose JSON form is at most limit code points (view.MinPeek
// to MaxPage; 0 means DefaultPage).
func (v views) Peek(ctx context.Context, session, id string, limit int) (view.Peek, error) {
	a, err := v.from.Get(ctx, session, id)
	if err != nil {
		return view.Peek{}, err
	}
	p, err := view.PeekOf(view.Peek{
		ArtifactID: string(a.ID), SHA256: a.Digest.String(), Tool: a.Tool, Kind: a.Kind,
		Created: a.Created.UTC().Format(time.RFC3339), Observations: a.Observations,
	}, a.Text, limit)
	if err != nil {
		return view.Peek{}, err
	}
	return p, nil
}

// Find lists the lines that hold query, case aside, at most limit of them (0 means
// MaxFindMatches).
func (v views) Find(ctx context.Context, session, id, query string, limit int) (Found, error) {
	a, err := v.from.Get(ctx, session, id)
	if err != nil {
		return Found{}, err
	}
	f, err := view.FindIn(a.Text, query, limit)
	if err != nil {
		return Found{}, err
	}
	return Found{ID: a.ID, Found: f}, nil
}

// Diff compares two artifacts by lines; limit bounds its text (0 means DefaultPage).
func (v views) Diff(ctx context.Context, session, first, second string, limit int) (Diff, error) {
	a, err := v.from.Get(ctx, session, first)
	if err != nil {
		return Diff{}, fmt.Errorf("first: %w", err)
	}
	b, err := v.from.Get(ctx, session, second)
	if err != nil {
		return Diff{}, fmt.Errorf("second: %w", err)
	}
	d, err := view.DiffOf(a.Text, b.Text, limit)
	if err != nil {
		return Diff{}, err
	}
	return Diff{First: a.ID, Second: b.ID, Diff: d}, nil
}
