package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"token-terminator/reports"
)

// checkPage refuses a page's path before a long replay: a file that is there and is
// no page of ours is somebody's work.
func (f *replayFlags) checkPage() error {
	if f.html == "" {
		return nil
	}
	file, err := os.Open(f.html)
	if errors.Is(err, os.ErrNotExist) {
		if info, err := os.Stat(filepath.Dir(f.html)); err != nil || !info.IsDir() {
			return usagef("--html %s: the folder is not there", f.html).try("make the folder first")
		}
		return f.checkFolder()
	}
	if err != nil {
		return usagef("--html: %w", err).try("--html report.html")
	}
	defer file.Close()
	head := make([]byte, len(reports.PageStart))
	if n, _ := io.ReadFull(file, head); string(head[:n]) != reports.PageStart {
		return usagef("--html %s would overwrite a file that is no page of this program", f.html).try("--html with a new name")
	}
	return f.checkFolder()
}

// checkFolder says before the work, not after it, that the page has no place.
func (f *replayFlags) checkFolder() error {
	file, err := os.CreateTemp(filepath.Dir(f.html), ".tt-page-*")
	if err == nil {
		err = errors.Join(file.Close(), os.Remove(file.Name()))
	}
	if err != nil {
		return f.noPage(err)
	}
	return nil
}

// noPage names the user's file, not the one beside it that is moved there.
func (f *replayFlags) noPage(err error) *failure {
	var path *os.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return storage(fmt.Errorf("--html %s cannot be written: %w", f.html, err)).try("--html in a folder of yours")
}

// writePage puts the page beside its place and then moves it there, so that it is
// never half written. It names sessions, so it is private.
func (f *replayFlags) writePage(report reports.Report, o reports.Options) error {
	if f.html == "" {
		return nil
	}
	var page bytes.Buffer
	if err := report.WriteHTML(&page, o); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(f.html), ".tt-page-*") // 0600
	if err != nil {
		return f.noPage(err)
	}
	_, err = file.Write(page.Bytes())
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), f.html)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return f.noPage(err)
	}
	return nil
}
