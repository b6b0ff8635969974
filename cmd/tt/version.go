package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is the release this tree will become.
const version = "0.1.0"

func versionVerb() verb {
	v := verb{name: "version", summary: "print the version", usage: "[--json]"}
	v.run = func(s *stage, args []string) error {
		fs := newFlags(s, v)
		asJSON := fs.Bool("json", false, "print JSON")
		if _, err := parse(fs, args); err != nil {
			return err
		}
		revision := ""
		if info, ok := debug.ReadBuildInfo(); ok {
			for _, setting := range info.Settings {
				if setting.Key == "vcs.revision" {
					revision = setting.Value
				}
			}
		}
		if *asJSON {
			return json.NewEncoder(s.stdout).Encode(map[string]string{
				"version": version, "revision": revision, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
			})
		}
		_, err := fmt.Fprintf(s.stdout, "token-terminator %s %s (%s, %s/%s)\n", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	}
	return v
}
