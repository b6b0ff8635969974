// Package safefile makes and opens the private folders and files of this program.
//
// What lives here: folders created 0700, files created 0600 with that mode from
// their first moment on (no umask window), refusal of symbolic links and of files
// that belong to another user, atomic create-only writes, bounded private reads.
// What may not: knowledge of what the files hold, SQLite, configuration.
//
// Invariants:
//   - Nothing that existed before is given another mode, except a private file of
//     ours that others could read (SecureFile), which is tightened to 0600.
//   - A file written by WriteNew is either absent or complete.
//   - Every error is an *Error: it names the path and says what to do.
//
// On Windows there are no modes and no owner ids here: files lie under the user's
// profile and inherit its access lists.
package safefile
