package faults

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// FlipBit inverts one bit of the byte at offset; a negative offset counts from the end.
func FlipBit(path string, offset int64) error {
	data, mode, err := load(path)
	if err != nil {
		return err
	}
	if offset < 0 {
		offset += int64(len(data))
	}
	if offset < 0 || offset >= int64(len(data)) {
		return fmt.Errorf("flip bit of %s: offset %d of %d bytes", path, offset, len(data))
	}
	data[offset] ^= 1
	return os.WriteFile(path, data, mode)
}

// Replace puts new in place of the first old in the file, which must be as long.
func Replace(path, old, new string) error {
	data, mode, err := load(path)
	if err != nil {
		return err
	}
	at := bytes.Index(data, []byte(old))
	if at < 0 || len(old) != len(new) {
		return fmt.Errorf("replace in %s: text not found or of another length", path)
	}
	copy(data[at:], new)
	return os.WriteFile(path, data, mode)
}

// Fill overwrites n bytes from offset on with b.
func Fill(path string, offset, n int64, b byte) error {
	data, mode, err := load(path)
	if err != nil {
		return err
	}
	if offset < 0 || n < 0 || offset+n > int64(len(data)) {
		return fmt.Errorf("fill %s: %d bytes at %d of %d", path, n, offset, len(data))
	}
	for i := offset; i < offset+n; i++ {
		data[i] = b
	}
	return os.WriteFile(path, data, mode)
}

func load(path string) ([]byte, os.FileMode, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	data, err := os.ReadFile(path)
	return data, info.Mode().Perm(), err
}

// ShortReader gives at most n bytes a call.
func ShortReader(r io.Reader, n int) io.Reader { return shortReader{r, n} }

type shortReader struct {
	r io.Reader
	n int
}

func (s shortReader) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), s.n)]) }

// TornReader gives the first n bytes of r and then err.
func TornReader(r io.Reader, n int64, err error) io.Reader {
	return io.MultiReader(io.LimitReader(r, n), failing{err})
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
