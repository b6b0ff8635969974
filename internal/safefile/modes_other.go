//go:build !unix

package safefile

import "io/fs"

const (
	noFollow = 0
	hasModes = false
)

func ownedByUs(fs.FileInfo) bool     { return true }
func worldWritable(fs.FileInfo) bool { return false }
func syncDir(string) error           { return nil }
