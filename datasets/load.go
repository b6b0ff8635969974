package datasets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Load reads every session of the files and folders named, in the order named and,
// below a folder, by path: each file ending in .jsonl. Sessions that could be read
// come back although others could not. Ids are unique over all of them: a clash
// gets a suffix "-2", "-3", … Every problem is an *Error.
func Load(paths []string, format Format) (sessions []Session, problems []error) {
	for _, path := range paths {
		files, errs := sessionFiles(path)
		problems = append(problems, errs...)
		for _, file := range files {
			got, errs := readFile(file, format)
			sessions = append(sessions, got...)
			problems = append(problems, errs...)
		}
	}
	makeUnique(sessions, map[string]bool{})
	return sessions, problems
}

func readFile(path string, format Format) ([]Session, []error) {
	data, err := readBounded(path)
	if err != nil {
		return nil, []error{err}
	}
	return Read(path, data, format)
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	return data, nil
}

func unreadable(path string, err error) *Error {
	hint := "check its permissions"
	if errors.Is(err, fs.ErrNotExist) {
		hint = "check the path"
	}
	if inner := new(fs.PathError); errors.As(err, &inner) {
		err = inner.Err
	}
	return &Error{File: path, Err: fmt.Errorf("%w: %w", ErrUnreadable, err), Hint: hint}
}

// sessionFiles gives the files a path stands for. A folder that cannot be read
// costs only what is below it.
func sessionFiles(path string) (files []string, problems []error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, []error{unreadable(path, err)}
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	root, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, []error{unreadable(path, err)}
	}
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			problems = append(problems, unreadable(p, err))
			return nil
		}
		if d.Type().IsRegular() && strings.HasSuffix(p, ".jsonl") {
			files = append(files, p)
		}
		return nil
	})
	if err != nil {
		problems = append(problems, unreadable(path, err))
	}
	if len(files) == 0 && len(problems) == 0 {
		cause := fmt.Errorf("%w: no .jsonl file below it", ErrNoSession)
		problems = append(problems, &Error{File: path, Err: cause, Hint: "give a session file or a folder that holds some"})
	}
	return files, problems
}
