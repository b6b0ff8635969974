package compile

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"token-terminator/reduce"
	"token-terminator/request"
	"token-terminator/turn"
)

// lastAnswers is how many of the last answers keep what their calls name in sight.
const lastAnswers = 3

// protected says which of all must stay in sight: for every value that the last
// calls, the open task or the user's words mention, the youngest result that holds
// it; and every read whose path the open task or the user names, or a call of the
// last few answers (Settings.ReadCalls, StrictReads).
func (d *Draft) protected(all []old) []bool {
	keep := make([]bool, len(all))
	wanted := d.mentioned()
	next := len(all) - 1
	for n, r := range slices.Backward(d.results.all) {
		found := false
		for _, text := range r.Texts {
			values, stays := d.inSight(r, text)
			for _, v := range values {
				if wanted[v] {
					found = true
					if stays {
						delete(wanted, v)
					}
				}
			}
		}
		for ; next >= 0 && all[next].result >= n; next-- {
			keep[next] = keep[next] || found
		}
	}
	d.keepReads(all, keep)
	return keep
}

// inSight gives the values that the model sees of one text of a result. stays is false
// when this turn may still decide to show it in part: then the value must be looked
// for in older results too.
func (d *Draft) inSight(r result, text request.Text) (values []uint64, stays bool) {
	for _, b := range d.blocksOf(r.message) {
		switch {
		case b.Decision.Block != text.Block:
		case b.Decision.Form == turn.Receipt:
			return nil, true
		case b.Decision.Form.Hides():
			return d.shownValues(r.message, b.Decision), true
		}
	}
	facts := d.oldFacts(r.message, text)
	return facts.values, r.message < d.known || facts.read || facts.before < d.c.settings.Plan.FloorHiding
}

// shownValues are the values of the text in force of a string that is shown in part.
func (d *Draft) shownValues(i int, decision turn.Decision) []uint64 {
	key := oldKey{d.snap.Binding.Session, d.chain[i], decision.Block, decision.Text}
	if f, ok := d.c.olds.get(key); ok {
		return f.values
	}
	f := &oldFacts{values: d.c.olds.valuesOf(decision.Text)}
	d.c.olds.put(key, f)
	return f.values
}

// mentioned is the values of the last answers' calls, of the newest task list and of
// what the user said last.
func (d *Draft) mentioned() map[uint64]bool {
	wanted := map[uint64]bool{}
	last, task, user := d.steps[len(d.steps)-1], d.task(), d.lastUser()
	for i, m := range d.doc.Messages {
		if i == user || m.Role == "assistant" && (i == task || last-d.steps[i] < lastAnswers) {
			for _, v := range d.words(i).values {
				wanted[v] = true
			}
		}
	}
	return wanted
}

// task is the message of the newest call that keeps a task list, -1 when there is none.
func (d *Draft) task() int {
	for i, m := range slices.Backward(d.doc.Messages) {
		for _, call := range m.Calls {
			if keepsTasks(call.Name) {
				return i
			}
		}
	}
	return -1
}

// keepsTasks says whether a tool keeps a task list.
func keepsTasks(tool string) bool {
	name := strings.ToLower(tool)
	return strings.Contains(name, "todo") || strings.Contains(name, "update_plan")
}

// lastUser is the newest message of the user, -1 when there is none.
func (d *Draft) lastUser() int {
	for i, m := range slices.Backward(d.doc.Messages) {
		if m.Role == "user" && (len(d.results.of(i)) == 0 || len(d.doc.Said(i)) > 0) {
			return i
		}
	}
	return -1
}

// keepReads marks the reads whose path is named after them, by the user or in the
// task list.
func (d *Draft) keepReads(all []old, keep []bool) {
	reads := map[string][]int{} // by the last element of the path
	for n, o := range all {
		if o.facts.read && !keep[n] {
			reads[lastElement(o.facts.path)] = append(reads[lastElement(o.facts.path)], n)
		}
	}
	if len(reads) == 0 {
		return
	}
	task, user, last := d.task(), d.lastUser(), d.steps[len(d.steps)-1]
	s := d.c.settings.Plan
	for i, m := range d.doc.Messages {
		if i != user && m.Role != "assistant" {
			continue
		}
		for _, path := range d.words(i).paths {
			for _, n := range reads[lastElement(path)] {
				call := m.Role == "assistant" && all[n].message < i && (s.StrictReads || last-d.steps[i] < s.ReadCalls)
				if (call || i == user || i == task) && samePath(path, all[n].facts.path) {
					keep[n] = true
				}
			}
		}
	}
}

// words are the values and paths of what the user says in message i, or of the
// arguments of its calls.
func (d *Draft) words(i int) *oldFacts {
	key := oldKey{d.snap.Binding.Session, d.chain[i], "", ""}
	if f, ok := d.c.olds.get(key); ok {
		return f
	}
	texts := d.spoken(i)
	f := &oldFacts{values: d.c.olds.valuesOf(texts...)}
	for _, text := range texts {
		reduce.Paths(text, func(path string) { f.paths = append(f.paths, path) })
	}
	slices.Sort(f.paths)
	f.paths = slices.Compact(f.paths)
	for n, path := range f.paths {
		f.paths[n] = strings.Clone(path) // the request's bytes are not kept
	}
	d.c.olds.put(key, f)
	return f
}

func (d *Draft) spoken(i int) []string {
	m := d.doc.Messages[i]
	var out []string
	if m.Role == "user" {
		for _, text := range d.doc.Said(i) {
			if value, err := d.doc.Value(text); err == nil {
				out = append(out, value)
			}
		}
	}
	for _, call := range m.Calls {
		if args, err := d.doc.Value(call.Args); err == nil {
			out = append(out, jsonStrings(args, keepsTasks(call.Name))...)
		}
	}
	return out
}

// namingLines is how many lines a string of a call's arguments has when it is text of
// its own (written or replaced) and no longer the name of something: what it mentions
// stands in sight right there.
const namingLines = 5

// jsonStrings lists the strings and numbers of a JSON text that name something: keys do
// not, nor do long texts, nor in a task list the words of a status. Of a task list every
// other word counts, however long its text is. What does not parse is one string.
func jsonStrings(raw string, tasks bool) []string {
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	var value any
	if dec.Decode(&value) != nil || dec.More() {
		return []string{raw}
	}
	return namedStrings(nil, "", value, tasks)
}

func namedStrings(out []string, key string, value any, tasks bool) []string {
	switch v := value.(type) {
	case string:
		if tasks && key != "status" || !tasks && strings.Count(v, "\n") < namingLines {
			out = append(out, v)
		}
	case json.Number:
		out = append(out, v.String())
	case []any:
		for _, e := range v {
			out = namedStrings(out, key, e, tasks)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = namedStrings(out, k, v[k], tasks)
		}
	}
	return out
}

func lastElement(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// samePath says whether two spellings may name one file: one is the other, or its
// end behind a slash.
func samePath(a, b string) bool {
	a, b = strings.TrimPrefix(a, "./"), strings.TrimPrefix(b, "./")
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}
