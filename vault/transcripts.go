package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"token-terminator/internal/sqlitefile"
	"token-terminator/vault/mention"
)

// Unread is a file that could not be searched, and why.
type Unread struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Naming is an artifact of a plan that a transcript names, and the first file that does.
type Naming struct {
	Doomed
	Path string `json:"path"`
}

// Searched is what a search of transcripts found.
type Searched struct {
	Files  int      `json:"files"`
	Bytes  int64    `json:"bytes"`
	Named  []Naming `json:"named"`  // in the order of the plan
	Unread []Unread `json:"unread"` // files nobody can say anything about
}

// Clean says that everything was read and nothing is named.
func (s Searched) Clean() bool { return len(s.Named) == 0 && len(s.Unread) == 0 }

// magics are the first bytes of files whose text lies behind compression.
var magics = [...]string{"\x1f\x8b", "\x28\xb5\x2f\xfd", "PK\x03\x04", "\xfd7zXZ\x00", "BZh"}

// searcher looks through files for the artifacts of one plan.
type searcher struct {
	ctx   context.Context
	plan  Removal
	index *mention.Index
	named map[int]string // number in the plan -> path
	out   Searched
	own   fs.FileInfo // the vault's folder, whose file names everything
}

// Mentions looks through transcripts for the ids of a plan: files of any kind of text,
// databases, and folders with everything below them. A vault is no transcript: this
// one and copies of it are passed over. It changes nothing, and an error means that a
// path is not there or that the context ended.
func (v *Vault) Mentions(ctx context.Context, plan Removal, paths []string) (Searched, error) {
	s := &searcher{ctx: ctx, plan: plan, index: plan.Index(), named: map[int]string{}}
	s.out = Searched{Named: []Naming{}, Unread: []Unread{}}
	var err error
	if s.own, err = os.Stat(v.dir); err != nil {
		return s.out, fmt.Errorf("look at vault folder: %w", err)
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return s.out, fmt.Errorf("look at transcripts: %w", err)
		}
		root, err := filepath.EvalSymlinks(path)
		if err != nil {
			return s.out, fmt.Errorf("look at transcripts: %w", err)
		}
		if err := filepath.WalkDir(root, s.visit); err != nil {
			return s.out, err
		}
	}
	for at, d := range plan.Artifacts {
		if path, ok := s.named[at]; ok {
			s.out.Named = append(s.out.Named, Naming{d, path})
		}
	}
	return s.out, nil
}

func (s *searcher) visit(path string, entry fs.DirEntry, err error) error {
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	if err != nil {
		s.unread(path, err)
		return nil
	}
	info, err := os.Stat(path) // through a link
	switch {
	case err != nil:
		s.unread(path, err)
	case entry.IsDir():
		if os.SameFile(info, s.own) {
			return fs.SkipDir
		}
	case info.IsDir():
		s.out.Unread = append(s.out.Unread, Unread{path, "a symbolic link to a folder: name the folder itself"})
	case info.Mode().IsRegular() && !sideOfDatabase(path):
		s.file(path)
	}
	return nil
}

func (s *searcher) unread(path string, err error) {
	why := err.Error()
	var pe *fs.PathError
	if errors.As(err, &pe) {
		why = pe.Err.Error()
	}
	s.out.Unread = append(s.out.Unread, Unread{path, why})
}

func (s *searcher) file(path string) {
	f, err := os.Open(path)
	if err != nil {
		s.unread(path, err)
		return
	}
	defer f.Close()
	head := make([]byte, len(sqlitefile.Magic))
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		s.unread(path, err)
		return
	}
	head = head[:n]
	switch {
	case string(head) == sqlitefile.Magic:
		s.database(path)
		return
	case slices.ContainsFunc(magics[:], func(m string) bool { return bytes.HasPrefix(head, []byte(m)) }):
		s.out.Unread = append(s.out.Unread, Unread{path, "it is compressed: unpack it first"})
		return
	}
	read, err := mention.Scan(io.MultiReader(bytes.NewReader(head), &reader{s.ctx, f}), s.token(path))
	s.out.Files, s.out.Bytes = s.out.Files+1, s.out.Bytes+read
	if err != nil && s.ctx.Err() == nil {
		s.unread(path, err)
	}
}

// reader ends a long read when the context does.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

func (s *searcher) token(path string) func(string) {
	return func(hex string) {
		s.index.Names(hex, func(at int) {
			if _, known := s.named[at]; !known {
				s.named[at] = path
			}
		})
	}
}

// database searches every value of another program's tables.
func (s *searcher) database(path string) {
	db, err := sqlitefile.OpenForeign(s.ctx, path)
	if err != nil {
		s.unread(path, err)
		return
	}
	defer db.Close()
	if app, _, err := sqlitefile.Versions(s.ctx, db.DB); err == nil && app == applicationID {
		return
	}
	scan := mention.NewScanner(s.token(path))
	err = db.Values(s.ctx, func(value []byte) {
		s.out.Bytes += int64(len(value))
		_, _ = scan.Write(value)
		scan.End()
	})
	s.out.Files++
	if err != nil && s.ctx.Err() == nil {
		s.unread(path, err)
	}
}

// sideOfDatabase says whether path is what SQLite keeps beside a database, whose
// content is read with it.
func sideOfDatabase(path string) bool {
	for _, side := range [...]string{"-wal", "-shm", "-journal"} {
		base, ok := strings.CutSuffix(path, side)
		if !ok {
			continue
		}
		f, err := os.Open(base)
		if err != nil {
			return false
		}
		head := make([]byte, len(sqlitefile.Magic))
		_, err = io.ReadFull(f, head)
		return errors.Join(err, f.Close()) == nil && string(head) == sqlitefile.Magic
	}
	return false
}
