package evidence

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShortFormsOfSeverity holds the forms of levels and exits that are no plain words.
func TestShortFormsOfSeverity(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"rc=1": true, "rc=0": false, "rc: 137": true, "EXIT CODE 3": true, "exit code 0xC0000005": true, "exit code 0x0": false,
		"cmd returned code 3": true, "cmd returned code 0": false,
		"E1130 07:12:01.1 1 a.go:1] lost": true, "W1130 07:12:01.1 1 a.go:1] slow": true, "I1130 07:12:01.1 1 a.go:1] fine": false, "E1130 units": false,
		"10:00 ERR lost": true, "time=1 lvl=eror msg=x": false, "lvl=EROR": true, "CRIT lost quorum": true, "err=EOF": true, "err: EOF": true,
		"err=nil": false, "err=<nil>": false, "err := f()": false, "if err != nil {": false,
		"Error: - disk full": true, "error: null pointer dereference": true, "error: none": false, "error: none warning: none": false,
		"errors: 0 warnings: 0": false, "error=null code=3": false, "发生error错误": true, "no errors": false,
	} {
		require.Equal(t, want, read(line, nil).sev[0] != 0, line)
	}
}
