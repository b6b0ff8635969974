// Package delta shows a text through earlier texts the model already sees: as a
// reference when it is byte-identical to one of them, as a delta when runs of its
// lines (or members of its one-line JSON) stand in at most three of them.
//
// What lives here: an add-only index over visible texts, the choice of bases and
// runs, the notes that replace runs, and Expand, which gives the exact old text back.
// What may not: I/O, requests, tokenizers (a count function is passed in), or the
// decision whether a proposal is taken.
//
//   - A base's Text is what the model sees at this moment: when an earlier block is
//     shown as a delta or compressed, the caller adds that reduced text, so that no
//     run leans on lines out of sight. Positions count the pieces of that text from 1.
//   - Expand(Result.Text, the bases of Result.Bases) == the old text, byte for byte;
//     Propose checks it before it answers.
//   - Every piece stays literal or stands under exactly one note. Differences of line
//     numbers and line ends are stated; every other difference is literal.
//   - A text with a piece that looks like a note, outside of runs, is refused.
//   - Same adds and same text give the same bytes. Time is linear in the text; lists
//     of places for very common lines are bounded.
//
// A note is one line in the place of a run; its line end is that of the run's last
// line. LABEL is the caller's, without its part in parentheses after its first use:
//
//	[same as LABEL]                           the whole text, a reference
//	[same as lines 1-329 of LABEL]            positions in the base's visible text
//	[same as numbered lines 40-80 of LABEL]   the line numbers the base itself shows
//	[same as last 4 lines of LABEL]
//	[same lines 340-350]                      the base of the note before
//	[same as lines 90-99 of LABEL, from "x"]  x starts line 90; helps to find it
//
// and before the bracket what differs: ", numbers +12" or ", ids +188" (added to what
// the base shows), ", without numbers", `, numbered from "     1→"`, ", CRLF", ", LF".
// Inside a JSON array it is an element "[same as items 1-3 of LABEL]", inside an
// object a member "[same as keys 2-8 of LABEL]": "name of the first to the last key".
package delta
