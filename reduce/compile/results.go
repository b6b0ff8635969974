package compile

import (
	"strings"

	"token-terminator/reduce/kind"
	"token-terminator/request"
)

// result is one tool result of the request. A message may hold several.
type result struct {
	request.Result
	message, nth int // the message, and which of its results this is
}

// resultList is the results of a request in order; those of message i are
// all[first[i]:first[i+1]]. The number a model is told is an index of all plus one.
type resultList struct {
	all   []result
	first []int
}

func resultsOf(doc *request.Doc) resultList {
	l := resultList{first: make([]int, 0, len(doc.Messages)+1)}
	for i := range doc.Messages {
		l.first = append(l.first, len(l.all))
		for n, r := range doc.Results(i) {
			l.all = append(l.all, result{Result: r, message: i, nth: n})
		}
	}
	l.first = append(l.first, len(l.all))
	return l
}

// of lists the results in message i.
func (l resultList) of(i int) []result { return l.all[l.first[i]:l.first[i+1]] }

// at is the index of the result a string belongs to, -1 when it is no part of one.
func (d *Draft) at(i int, block string) int {
	n, ok := d.doc.ResultOf(i, block)
	if !ok {
		return -1
	}
	return d.results.first[i] + n
}

// toolOf is the name of the tool that gave a result, "" unknown. A model may give a
// name that is no Unicode; it is stored and reported with its broken parts as "?".
func (d *Draft) toolOf(r result) string {
	if at := r.Answers; at.Message >= 0 {
		return strings.ToValidUTF8(d.doc.Messages[at.Message].Calls[at.Call].Name, "?")
	}
	return ""
}

// callOf is the tool call a result answers.
func (d *Draft) callOf(r result) kind.Call {
	at := r.Answers
	if at.Message < 0 {
		return kind.Call{}
	}
	args, err := d.doc.Value(d.doc.Messages[at.Message].Calls[at.Call].Args)
	if err != nil {
		args = ""
	}
	return kind.Call{Tool: d.toolOf(r), Args: args}
}

// call is the tool call a string of message i answers.
func (d *Draft) call(i int, block string) kind.Call {
	if n := d.at(i, block); n >= 0 {
		return d.callOf(d.results.all[n])
	}
	return kind.Call{}
}
