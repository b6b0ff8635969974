package main

import (
	"flag"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"token-terminator/host/settings"
	"token-terminator/host/settings/apply"
	"token-terminator/internal/safefile"
	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/reduce/compile"
)

// settingOf is the setting a flag of tt reduce sets.
var settingOf = map[string]string{
	"preset": "PRESET", "max-tokens": "MAX_TOKENS", "head": "HEAD_LINES", "tail": "TAIL_LINES", "context": "CONTEXT_LINES", "exclude": "EXCLUDE_TOOLS",
}

// given notes which flags were set, as settings.
func (f *reduceFlags) given(fs *flag.FlagSet) {
	f.set = map[string]string{}
	fs.Visit(func(one *flag.Flag) {
		switch name := settingOf[one.Name]; name {
		case "":
		case "EXCLUDE_TOOLS":
			f.set[name] = strings.Join(f.excluded, ",")
		default:
			f.set[name] = one.Value.String()
		}
	})
}

// check says what is wrong with the flags themselves.
func (f *reduceFlags) check() error {
	if _, ok := reduce.ParsePreset(f.preset); !ok {
		return usagef("there is no preset %q", f.preset).try("--preset default, lossless, equivalent or tight")
	}
	if f.head < 1 || f.tail < 1 || f.context < 0 || f.maxTokens < 0 {
		return usagef("--head and --tail want 1 or more lines, --context and --max-tokens 0 or more")
	}
	return nil
}

// load puts flags, environment and config.toml together: flag before environment before
// file before default.
func (f *reduceFlags) load(s *stage) (set settings.Settings, folder string, err error) {
	if err := f.check(); err != nil {
		return set, "", err
	}
	if folder, err = vaultFolder(s, f.vault, f.home); err != nil {
		return set, "", err
	}
	if set, err = loadSettings(s, folder, f.set); err != nil {
		if safefile.CheckDir(folder) == nil {
			return set, "", err
		}
		// The folder itself cannot be used: the vault says so, with its own exit code.
		if set, err = settings.Load(settings.Sources{Flags: f.set, Env: s.environment()}); err != nil {
			return set, "", usagef("%w", err)
		}
	}
	for _, notice := range set.Notices {
		fmt.Fprintln(s.stderr, "tt:", notice)
	}
	return set, folder, nil
}

// still says that the settings let no single result change.
func still(set settings.Settings) bool {
	return !set.TokenBudget || set.Observe() || !set.ActsOnRequests() && !set.ActsOnResults()
}

func compileSettings(set settings.Settings) compile.Settings { return apply.Compile(set, plan.Study()) }

// storeFolder is where the vault of a folder lies: --vault names it, else DB_PATH may.
func storeFolder(folder, flagVault string, set settings.Settings) string {
	if flagVault != "" {
		return folder
	}
	return filepath.Dir(vaultPath(folder, set))
}

// ofSession are the settings of set that are not the default and that a session may
// have, by name, as texts.
func ofSession(set settings.Settings) map[string]string {
	out := map[string]string{}
	for _, one := range set.Show() {
		if set.Origin(one.Name) == "default" || one.Later {
			continue
		}
		switch value := one.Value.(type) {
		case []string:
			out[one.Name] = strings.Join(value, ",")
		case float64:
			out[one.Name] = strconv.FormatFloat(value, 'f', -1, 64)
		default:
			out[one.Name] = fmt.Sprint(value)
		}
	}
	return out
}
