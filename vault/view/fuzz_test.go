package view

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// A page is the code points from offset on, never more than the limit, and the next
// offset continues without gap or overlap.
func FuzzPage(f *testing.F) {
	for _, s := range []string{"", "abc", "ü😀\u2028ß\r\n", "\xff\xfe", "a\x00b"} {
		f.Add(s, 0, 1)
		f.Add(s, 2, 0)
		f.Add(s, -1, 9)
		f.Add(s, 1<<62, 1<<62)
	}
	f.Fuzz(func(t *testing.T, text string, offset, limit int) {
		p, err := PageOf(text, offset, limit)
		if offset < 0 || limit < 0 {
			if err == nil {
				t.Fatal("a negative number was taken")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		n := utf8.RuneCountInString(p.Content)
		if n > MaxPage || (limit > 0 && n > limit) {
			t.Fatalf("%d code points", n)
		}
		if p.NextOffset != nil && (*p.NextOffset != offset+n || *p.NextOffset >= p.TotalChars) {
			t.Fatalf("next offset %d after %d", *p.NextOffset, offset)
		}
		if p.NextOffset == nil && offset < p.TotalChars && offset+n != p.TotalChars {
			t.Fatal("the last page does not reach the end")
		}
		if !strings.Contains(text, p.Content) {
			t.Fatal("not a part of the text")
		}
	})
}

// Two line ranges side by side are the text.
func FuzzLines(f *testing.F) {
	f.Add("a\nb\r\n\nc", 2)
	f.Add("", 1)
	f.Add("\n\n", 3)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if cut < 2 || utf8.RuneCountInString(text) > MaxPage {
			return
		}
		head, err := LinesOf(text, 1, cut-1)
		if err != nil {
			t.Fatal(err)
		}
		tail, err := LinesOf(text, cut, 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		if head.Content+tail.Content != text {
			t.Fatalf("%q + %q", head.Content, tail.Content)
		}
	})
}

// A peek keeps its limit, a diff keeps its limit, and find shows lines that hold the query.
func FuzzViewsAreBounded(f *testing.F) {
	f.Add("a\nERROR b\n", "A\nerror ß\n", "SS", 300)
	f.Add(`{"a":[1,2]}`, `[[[`, "a", 200)
	f.Fuzz(func(t *testing.T, a, b, query string, limit int) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return
		}
		if p, err := PeekOf(Peek{ArtifactID: "a_0123456789abcdef0123456789abcdef"}, a, limit); err == nil && limit > 0 {
			if data, err := json.Marshal(p); err != nil || utf8.RuneCount(data) > limit {
				t.Fatalf("peek of %d code points, limit %d", utf8.RuneCount(data), limit)
			}
		}
		if d, err := DiffOf(a, b, limit); err == nil && limit > 0 && utf8.RuneCountInString(d.Text) > limit {
			t.Fatal("diff over its limit")
		}
		if found, err := FindIn(a, query, 0); err == nil {
			for _, m := range found.Matches {
				if !m.Clipped && !Contains(m.Text, Fold(query)) {
					t.Fatalf("%q does not hold %q", m.Text, query)
				}
			}
		}
		if Fold(Fold(a)) != Fold(a) {
			t.Fatal("folding twice gives another text")
		}
	})
}
