// Package settings reads what a user may set: config.toml, TOKEN_TERMINATOR_* variables
// and flags, in the order flag > the session's environment > config.toml > default.
//
// What lives here: the table of all settings (table.go), the strict reader of
// config.toml, the lenient reader of an environment, the modes, the type of secrets.
// What may not: reading the process's environment (the commands do), files other than
// config.toml, SQLite, the network.
//
// Invariants:
//   - config.toml and flags are strict: an unknown key, a wrong type or a value out of
//     range is an error that names file, line and key, and nothing is taken.
//   - An environment never stops anything: what cannot be read is left at its default
//     (where the doubt is about doing anything at all: off) and said in a notice.
//   - Keys of services are read from the environment only. A key in config.toml is an
//     error whose text does not hold it.
//   - Settings never change after they were made. No value of them is a secret.
package settings
