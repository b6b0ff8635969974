// Package delta shows a text through earlier texts the model already sees: as a
// reference when it is byte-identical to one of them, as a delta when runs of its
// lines stand in at most three of them.
//
// What lives here: an add-only line index over visible texts, the choice of bases
// and runs, the notes that replace runs, and Expand, which gives the exact old
// text back. What may not: I/O, requests, tokenizers (a count function is passed
// in), or the decision whether a proposal is taken.
//
// Invariants:
//   - A base's Text is what the model sees at this moment: when an earlier block is
//     itself shown as a delta or compressed, the caller adds that reduced text, so
//     that no run can lean on lines that are out of sight. Positions in notes count
//     the lines of that visible text from 1.
//   - Expand(Result.Text, the bases of Result.Bases) == the old text, byte for byte.
//     Propose checks this itself before it answers.
//   - Every line stays literal or stands under exactly one note. Differences of line
//     numbers and line ends are stated in the note; every other difference is literal.
//   - A text with a line that looks like a note of ours, outside of runs, is refused.
//   - Same adds and same text give the same bytes. Time is linear in the text; lists
//     of places for very common lines are bounded.
//
// A note is one line and takes the place of a run. Its own line end is that of the
// run's last line. The forms, with LABEL as the caller gave it (its part in
// parentheses is left out after the first mention):
//
//	[same as LABEL]                           the whole text, a reference
//	[same as lines 1-329 of LABEL]            positions in the base's visible text
//	[same as numbered lines 40-80 of LABEL]   the line numbers the base itself shows
//	[same as last 4 lines of LABEL]
//	[same lines 340-350]                      the base of the note before
//
// and before the closing bracket what differs: ", numbers +12" or ", ids +188"
// (added to the numbers the base shows), ", without numbers", `, numbered from
// "     1→"`, and ", CRLF" or ", LF" for other line ends.
package delta
