//go:build !unix

package doctor

import "io/fs"

func alive(int) (bool, bool) { return false, false }

func ours(fs.FileInfo) bool { return true }

// may: access lists are not looked at here.
func may(string, bool) bool { return true }
