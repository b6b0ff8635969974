package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBench_ACorpusWithoutOutputsIsAnError(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{filepath.Join(t.TempDir(), "nosuch"), t.TempDir()} {
		code, out, errs := tt(t, "", "bench", "evidence", "--corpus", dir)
		require.Equal(t, exitUsage, code)
		require.Empty(t, out)
		require.Contains(t, errs, "there is no recorded output in ")
	}
}
