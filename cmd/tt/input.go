package main

import (
	"io"
	"strings"
)

// maxInput bounds what a pipe is read into memory for, in bytes.
const maxInput = 64 << 20

func readerOf(text string) io.Reader { return strings.NewReader(text) }
