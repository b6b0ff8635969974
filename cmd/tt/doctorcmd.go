package main

import (
	"errors"

	"token-terminator/host/doctor"
	"token-terminator/host/settings"
)

func doctorVerb() verb {
	v := verb{
		name: "doctor", summary: "check a home: files, vault, ledger, settings, daemon; only reads",
		usage: "[flags]",
		help: `Each check is ok, warn or fail, with one sentence what is wrong and one what to do.
The exit code is 1 when a check failed. Nothing is repaired or written.

Examples:
  tt doctor
  tt doctor --json
`,
	}
	v.run = func(s *stage, args []string) error {
		folder, asJSON, err := folderAsked(s, v, args)
		if err != nil {
			return err
		}
		report := examine(s, folder)
		if asJSON {
			err = printJSON(s.stdout, report)
		} else {
			err = doctor.WriteText(s.stdout, report)
		}
		if err == nil && report.Failed > 0 {
			return &failure{code: exitUnexpected, err: errors.New("not everything is in order"), hint: "do what the failed checks say, then run it again"}
		}
		return err
	}
	return v
}

func examine(s *stage, folder string) doctor.Report {
	h := doctor.Home{Folder: folder, Version: version, Asker: statusAsker{folder}}
	set, err := loadSettings(s, folder, nil)
	if err != nil {
		h.Config = err
		set, err = settings.Load(settings.Sources{Env: s.environment()})
	}
	if err == nil {
		h.Settings, h.DBPath, h.Ledger = set, set.DBPath, set.LedgerPath
	}
	return doctor.Look(s.ctx, h)
}
