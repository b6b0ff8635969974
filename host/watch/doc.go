// Package watch shows what a daemon does: the status document, its gathering from the
// parts of a daemon, metrics, and the loopback pages /status, /metrics and /healthz.
//
// What lives here: numbers, reasons, states and dates, and the handler that serves
// them. What may not: a write, a content, a path, an argument, words of a foreign error.
//
// Invariants:
//   - Unknown figures are null, never 0.
//   - The pages are for this machine: Listen refuses every address that is not loopback,
//     and the handler every request whose Host is not (another site's name that was made
//     to point here). Only GET is served.
package watch
