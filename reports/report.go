package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// Report is a whole replay.
type Report struct {
	Sessions []Session `json:"sessions"`
	Total    Session   `json:"total"`
}

// New finishes every session and sums them.
func New(sessions []Session) Report {
	r := Report{Sessions: make([]Session, len(sessions))}
	for i, s := range sessions {
		s.Finish()
		r.Sessions[i] = s
	}
	r.Total = Total(r.Sessions)
	return r
}

// Total sums what can be summed. Percentages and shares come from the sums,
// latency percentiles from all turns; tokens of two measures are given apart; names that differ become "mixed"; an arm that
// one session did not run is null. Epochs stay with their sessions: a total's are nil.
func Total(sessions []Session) Session {
	t := Session{ID: "total", ByForm: map[string]Group{}, ByTool: map[string]Group{}, Reasons: map[string]int{}}
	for i := range sessions {
		s := &sessions[i]
		first := i == 0
		t.Source = same(first, t.Source, s.Source)
		t.Model = same(first, t.Model, s.Model)
		t.Tokenizer = same(first, t.Tokenizer, s.Tokenizer)
		t.addCounts(s)
		t.addCost(first, s.Cost)
		for name, g := range s.ByForm {
			t.ByForm[name] = t.ByForm[name].Plus(g)
		}
		for name, g := range s.ByTool {
			t.ByTool[name] = t.ByTool[name].Plus(g)
		}
		for name, n := range s.Reasons {
			t.Reasons[name] += n
		}
		t.latencies = append(t.latencies, s.latencies...)
		t.loss.plus(s.loss)
		t.Tokens.Measure = same(first, t.Tokens.Measure, s.Tokens.Measure)
	}
	t.Exact, t.Panel = sumOf(sessions, Exact), sumOf(sessions, Panel)
	t.Finish()
	t.Epochs = nil
	return t
}

func (t *Session) addCounts(s *Session) {
	t.Messages += s.Messages
	t.Turns += s.Turns
	t.PrefixAdded += s.PrefixAdded
	t.Tokens.Raw += s.Tokens.Raw
	t.Tokens.Final += s.Tokens.Final
	t.UniqueTokensRemoved += s.UniqueTokensRemoved
	t.Denominators.Touchable += s.Denominators.Touchable
	t.Denominators.NewInput += s.Denominators.NewInput
	t.PrefixViolations += s.PrefixViolations
	t.EnlargedTurns += s.EnlargedTurns
	t.PassthroughTurns += s.PassthroughTurns
	t.Artifacts += s.Artifacts
	t.RecoveriesChecked += s.RecoveriesChecked
	t.RecoveriesFailed += s.RecoveriesFailed
	t.PairingViolations += s.PairingViolations
	t.NeededLater.Count += s.NeededLater.Count
	t.NeededLater.Debit += s.NeededLater.Debit
}

func (t *Session) addCost(first bool, c Cost) {
	sum := &t.Cost
	if first {
		*sum = c
		return
	}
	sum.Unit = same(false, sum.Unit, c.Unit)
	if sum.PriceRow != c.PriceRow {
		sum.PriceRow = PriceRow{Name: Mixed}
	}
	sum.Assumed = sum.Assumed || c.Assumed
	sum.Raw += c.Raw
	sum.Final += c.Final
	sum.RecoveryDebit += c.RecoveryDebit
	sum.Birth = plus(sum.Birth, c.Birth)
	sum.AlwaysRewrite = plus(sum.AlwaysRewrite, c.AlwaysRewrite)
	sum.Masking = plus(sum.Masking, c.Masking)
	sum.Optimum = plus(sum.Optimum, c.Optimum)
}

func plus(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	sum := *a + *b
	return &sum
}

func same(first bool, a, b string) string {
	if first || a == b {
		return b
	}
	return Mixed
}

// WriteJSON writes the report and the notes of o as indented JSON with a newline at
// its end.
func (r Report) WriteJSON(w io.Writer, o Options) error {
	out := struct {
		Sessions []Session `json:"sessions"`
		Total    any       `json:"total"`
		Notes    []string  `json:"notes"`
	}{r.Sessions, asJSON(r.Total), append([]string{}, o.Notes...)}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// ErrAlgebra says that the figures of a report contradict each other.
var ErrAlgebra = errors.New("report figures do not add up")

// Check holds the report to its own algebra, each session and the total.
func (r Report) Check() error {
	var errs []error
	for _, s := range append(r.Sessions[:len(r.Sessions):len(r.Sessions)], r.Total) {
		errs = append(errs, s.check())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("check report: %w", err)
	}
	return nil
}

func (s Session) check() error {
	var forms, tools Group
	for _, g := range s.ByForm {
		forms = forms.Plus(g)
	}
	for _, g := range s.ByTool {
		tools = tools.Plus(g)
	}
	bad := func(what string) error { return fmt.Errorf("%w: %s: %s", ErrAlgebra, s.ID, what) }
	switch {
	case s.Tokens.Raw-s.Tokens.Saved != s.Tokens.Final:
		return bad("raw − saved is not final")
	case forms.Saved != s.UniqueTokensRemoved || forms.TokensBefore-forms.TokensAfter != forms.Saved:
		return bad("the forms' savings are not the unique tokens removed")
	case tools != forms:
		return bad("forms and tools count different blocks")
	case s.RecoveriesFailed > s.RecoveriesChecked:
		return bad("more recoveries failed than were checked")
	case s.EnlargedTurns+s.PassthroughTurns > s.Turns:
		return bad("more turns enlarged or passed than there are")
	case s.Denominators.Request != s.Tokens.Raw || s.Denominators.Bill != s.Cost.Raw:
		return bad("denominators differ from the raw arm")
	case s.Cost.SavedPct != nil && math.Abs(*s.Cost.SavedPct*s.Cost.Raw/100-(s.Cost.Raw-s.Cost.Net())) > 1e-6*math.Abs(s.Cost.Raw):
		return bad("saved_pct is not what the bills say")
	}
	return nil
}
