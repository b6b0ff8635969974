package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"token-terminator/host/settings"
)

func configVerb() verb {
	v := verb{
		name: "config", summary: "show every setting with its value and where it comes from",
		usage: "show|path [flags]",
		help: `show prints the settings in force: a flag, the environment (TOKEN_TERMINATOR_…),
config.toml in the home's folder, the default, in this order. path prints the file.
docs/settings.md lists what each one takes. Keys of services are never shown.

Examples:
  tt config show
  TOKEN_TERMINATOR_MODE=suggest tt config show --json
`,
	}
	v.run = func(s *stage, args []string) error {
		fs := newFlags(s, v)
		home := fs.String("home", "", "home `folder`")
		asJSON := fs.Bool("json", false, "print JSON")
		rest, err := parse(fs, args)
		if err != nil {
			return err
		}
		folder, err := homeFolder(s, *home)
		if err != nil {
			return err
		}
		switch {
		case len(rest) == 1 && rest[0] == "path":
			_, err := fmt.Fprintln(s.stdout, filepath.Join(folder, settings.FileName))
			return err
		case len(rest) != 1 || rest[0] != "show":
			return usagef("config takes one action: show or path").try("tt config show")
		}
		set, err := loadSettings(s, folder, nil)
		if err != nil {
			return err
		}
		return showSettings(s, set, *asJSON)
	}
	return v
}

// environment is every variable of ours; without a list of all, those that are known.
func (s *stage) environment() map[string]string {
	env := map[string]string{}
	if s.environ == nil {
		for _, name := range settings.Names() {
			if value := s.getenv(name); value != "" {
				env[name] = value
			}
		}
		return env
	}
	for _, pair := range s.environ() {
		if name, value, ok := strings.Cut(pair, "="); ok && !settings.SecretName(name) {
			env[name] = value
		}
	}
	return env
}

// loadSettings puts flags, environment and the folder's config.toml together.
func loadSettings(s *stage, folder string, flags map[string]string) (settings.Settings, error) {
	file, err := settings.ReadFile(filepath.Join(folder, settings.FileName))
	if err != nil {
		return settings.Settings{}, badConfig(err)
	}
	set, err := settings.Load(settings.Sources{Flags: flags, Env: s.environment(), File: file})
	if err != nil {
		return settings.Settings{}, usagef("%w", err).try("tt config show lists the settings")
	}
	return set, nil
}

func badConfig(err error) error {
	f := storage(err)
	f.code = exitUsage
	return f
}

func showSettings(s *stage, set settings.Settings, asJSON bool) error {
	shown := set.Show()
	if asJSON {
		notices := set.Notices
		if notices == nil {
			notices = []string{}
		}
		return printJSON(s.stdout, map[string]any{"settings": shown, "notices": notices})
	}
	tw := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	for _, one := range shown {
		value := fmt.Sprint(one.Value)
		if list, ok := one.Value.([]string); ok {
			value = strings.Join(list, ",")
		}
		if value == "" {
			value = "–"
		} else if one.Unit != "" {
			value += " " + one.Unit
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", one.Name, value, one.Origin)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, notice := range set.Notices {
		fmt.Fprintln(s.stderr, "tt:", notice)
	}
	return nil
}
