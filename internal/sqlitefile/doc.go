// Package sqlitefile opens private SQLite files. It is the only importer of the
// SQLite driver.
//
// What lives here: the connection string with its pragmas, the escaping of odd
// paths, the switch to write-ahead logging with bounded retry, read-only opening of
// a copied folder, the application id and schema version, and the translation of
// SQLite's result codes into errors that name the file and say what to do.
// What may not: a schema, a query about content, knowledge of what is stored.
//
// Invariants:
//   - Every connection carries its pragmas in the connection string, so a pool
//     cannot hand out one without them.
//   - The main file exists with mode 0600 before SQLite opens it; SQLite gives the
//     -wal and -shm files the same mode.
//   - A read-only handle never creates a file beside a folder it may not write.
package sqlitefile
