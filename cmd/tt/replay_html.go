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
		return nil
	}
	if err != nil {
		return usagef("--html: %w", err).try("--html report.html")
	}
	defer file.Close()
	head := make([]byte, len(reports.PageStart))
	if n, _ := io.ReadFull(file, head); string(head[:n]) != reports.PageStart {
		return usagef("--html %s would overwrite a file that is no page of this program", f.html).try("--html with a new name")
	}
	return nil
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
		return storage(fmt.Errorf("write page: %w", err))
	}
	_, err = file.Write(page.Bytes())
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), f.html)
	}
	if err != nil {
		return storage(fmt.Errorf("write page: %w", errors.Join(err, os.Remove(file.Name()))))
	}
	return nil
}
