// Package reports holds the figures of a replay and renders them: as JSON with the
// field names of the project's contract, as text for a terminal of 100 columns, as
// Markdown for published results, and as one HTML page (page.html.tmpl) that needs
// no script and loads nothing.
//
// What lives here: structs, sums, percentages, rendering. What may not: a formula
// that decides anything, I/O beyond the writer it is given, text of a request.
//
// Invariants:
//   - raw − saved = final for tokens; the saved tokens of all forms, and those of
//     all tools, add up to the unique tokens removed (Report.Check);
//   - a saving is never printed without the evidence figures beside it;
//   - percentages of a total are computed from sums, never averaged; what cannot be
//     summed is "mixed" or null; unknown is null, never 0;
//   - the same figures give the same bytes;
//   - names of sessions, models and tools come from files of others: every rendering
//     cleans them, the page escapes them.
//
// Units: tokens are input tokens; money is the cost's unit (ite: the price of one
// fresh input token is 1); times are milliseconds; percentages are 0 to 100 and may
// be negative.
package reports
