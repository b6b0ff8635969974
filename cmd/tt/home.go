package main

import (
	"os"
	"path/filepath"
)

// folderName is the folder of ours inside a home.
const folderName = "token-terminator"

// homeFolder finds the folder that holds the vault: --home, TOKEN_TERMINATOR_HOME,
// HERMES_HOME, ~/.hermes when it exists, else the data home.
func homeFolder(s *stage, flagHome string) (string, error) {
	for _, home := range []string{flagHome, s.getenv("TOKEN_TERMINATOR_HOME"), s.getenv("HERMES_HOME")} {
		if home != "" {
			return filepath.Join(home, folderName), nil
		}
	}
	user := s.getenv("HOME")
	if user == "" {
		var err error
		if user, err = os.UserHomeDir(); err != nil {
			return "", usagef("no home folder is known").try("name one with --home DIR")
		}
	}
	hermes := filepath.Join(user, ".hermes")
	if info, err := os.Stat(hermes); err == nil && info.IsDir() {
		return filepath.Join(hermes, folderName), nil
	}
	data := s.getenv("XDG_DATA_HOME")
	if data == "" {
		data = filepath.Join(user, ".local", "share")
	}
	return filepath.Join(data, folderName), nil
}

// vaultFolder is the folder --vault names, else the home's.
func vaultFolder(s *stage, flagVault, flagHome string) (string, error) {
	if flagVault != "" {
		return flagVault, nil
	}
	return homeFolder(s, flagHome)
}
