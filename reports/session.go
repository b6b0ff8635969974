package reports

import (
	"cmp"
	"encoding/json"
	"slices"

	"token-terminator/turn"
)

// Session is the figures of one replayed session, or of all of them (total).
type Session struct {
	ID          string `json:"id"`
	Source      string `json:"source"`
	Model       string `json:"model"`
	Tokenizer   string `json:"tokenizer"`
	Messages    int    `json:"messages"`
	Turns       int    `json:"turns"`
	PrefixAdded int    `json:"prefix_added"` // tokens put before the messages in the bill only
	Tokens      Tokens `json:"tokens"`
	// Exact and Panel are the tokens of a total by measure; nil for a session.
	Exact *Sum `json:"exact,omitempty"`
	Panel *Sum `json:"panel,omitempty"`
	// UniqueTokensRemoved counts each removed block once, however often it is sent.
	UniqueTokensRemoved int              `json:"unique_tokens_removed"`
	Hidden              int              `json:"hidden_blocks"` // at the end; HiddenBlocks
	Cost                Cost             `json:"cost"`
	Denominators        Denominators     `json:"denominators"`
	ByForm              map[string]Group `json:"by_form"` // by turn.Form
	ByTool              map[string]Group `json:"by_tool"` // by the tool's name
	Epochs              []Epoch          `json:"epochs"`
	PrefixViolations    int              `json:"prefix_violations"`
	EnlargedTurns       int              `json:"enlarged_turns"`
	PassthroughTurns    int              `json:"passthrough_turns"`
	Artifacts           int              `json:"artifacts"`
	RecoveriesChecked   int              `json:"recoveries_checked"`
	RecoveriesFailed    int              `json:"recoveries_failed"`
	PairingViolations   int              `json:"pairing_violations"`
	NeededLater         NeededLater      `json:"needed_later"`
	Latency             Latency          `json:"latency_ms"`
	Reasons             map[string]int   `json:"reasons"` // by turn.Reason

	latencies []float64
	series    []Series // of each arm, for WriteHTML
	loss      loss
}

// Tokens is the input tokens of all turns: as recorded, as sent, and what that
// saves. Measure is "exact", "panel", or "mixed" in a total over both, whose counts are
// null in JSON: measures are never added.
type Tokens struct {
	Raw     int    `json:"raw"`
	Final   int    `json:"final"`
	Saved   int    `json:"saved"`
	Measure string `json:"measure"`
}

// MarshalJSON implements json.Marshaler.
func (t Tokens) MarshalJSON() ([]byte, error) {
	if t.Measure == Mixed {
		return []byte(`{"raw":null,"final":null,"saved":null,"measure":"` + Mixed + `"}`), nil
	}
	type plain Tokens // without this method
	return json.Marshal(plain(t))
}

// Sum is the tokens of the sessions of one measure.
type Sum struct {
	Sessions int `json:"sessions"`
	Raw      int `json:"raw"`
	Final    int `json:"final"`
	Saved    int `json:"saved"`
}

// sumOf adds the sessions that were measured so.
func sumOf(sessions []Session, measure string) *Sum {
	var sum Sum
	for _, s := range sessions {
		if s.Tokens.Measure == measure {
			sum = Sum{sum.Sessions + 1, sum.Raw + s.Tokens.Raw, sum.Final + s.Tokens.Final, sum.Saved + s.Tokens.Raw - s.Tokens.Final}
		}
	}
	return &sum
}

// Measures of Tokens.
const (
	Exact = "exact"
	Panel = "panel"
	Mixed = "mixed"
)

// Cost is the bill of each arm. Raw and Final are the bills of the recorded and of
// the sent requests; RecoveryDebit comes on top of Final. The other arms are net of
// their own debits; an arm that was not run is null.
type Cost struct {
	Unit           string   `json:"unit"`
	PriceRow       PriceRow `json:"price_row"`
	Assumed        bool     `json:"assumed"`
	Raw            float64  `json:"raw"`
	Final          float64  `json:"final"`
	RecoveryDebit  float64  `json:"recovery_debit"`
	Birth          *float64 `json:"birth"`
	AlwaysRewrite  *float64 `json:"always_rewrite"`
	Masking        *float64 `json:"masking"`
	Optimum        *float64 `json:"optimum"`
	SavedPct       *float64 `json:"saved_pct"` // net of the debit; null without a bill
	ShareOfOptimum *float64 `json:"share_of_optimum"`
}

// PriceRow names the prices of one token of each class, and the cache rules.
type PriceRow struct {
	Name      string  `json:"name"`
	AsOf      string  `json:"as_of"`
	Source    string  `json:"source"`
	Input     float64 `json:"input"`
	Read      float64 `json:"read"`
	Write     float64 `json:"write"`
	Output    float64 `json:"output"`
	MinPrefix int     `json:"min_prefix"` // tokens
	TTL       int     `json:"ttl"`        // seconds
}

// MarshalJSON implements json.Marshaler; the row of a total over several is null.
func (p PriceRow) MarshalJSON() ([]byte, error) {
	if p.Name == Mixed {
		return []byte("null"), nil
	}
	type plain PriceRow // without this method
	return json.Marshal(plain(p))
}

// Denominators is what a saving may be compared with: the unique tokens we may
// touch, the unique tokens of all new input, the tokens of all whole requests as
// recorded, and the recorded bill.
type Denominators struct {
	Touchable int     `json:"touchable"`
	NewInput  int     `json:"new_input"`
	Request   int     `json:"request"`
	Bill      float64 `json:"bill"`
}

// Group is the blocks of one form or tool, each counted once, in the form it has at the
// end.
type Group struct {
	Blocks       int `json:"blocks"`
	Hidden       int `json:"hidden"` // of those, in a form that hides text
	TokensBefore int `json:"tokens_before"`
	TokensAfter  int `json:"tokens_after"`
	Saved        int `json:"saved"` // before − after
}

// Plus adds two groups.
func (g Group) Plus(h Group) Group {
	return Group{g.Blocks + h.Blocks, g.Hidden + h.Hidden, g.TokensBefore + h.TokensBefore, g.TokensAfter + h.TokensAfter, g.Saved + h.Saved}
}

// Epoch is one turn at which old messages changed.
type Epoch struct {
	Turn   int    `json:"turn"` // from 1
	Kind   string `json:"kind"` // "cold", "warm" or "window"
	Reason string `json:"reason"`
}

// NeededLater is the hidden blocks a later recorded call needed, and what fetching
// each of them whole would cost; it is not part of the cost.
type NeededLater struct {
	Count int     `json:"count"`
	Debit float64 `json:"debit"`
}

// Latency is the time of a turn through the pipeline, in ms; null without turns.
type Latency struct {
	P50 *float64 `json:"p50"`
	P99 *float64 `json:"p99"`
	Max *float64 `json:"max"`
}

// AddBlock counts one changed block (once in a session, when it is first shown) in
// its form, its tool and the unique tokens removed. A form that changes nothing
// (original) is counted without a saving.
func (s *Session) AddBlock(form turn.Form, tool string, before, after int) {
	if s.ByForm == nil {
		s.ByForm = map[string]Group{}
	}
	if s.ByTool == nil {
		s.ByTool = map[string]Group{}
	}
	g := Group{Blocks: 1, Hidden: hidden(form), TokensBefore: before, TokensAfter: after, Saved: before - after}
	s.ByForm[string(form)] = s.ByForm[string(form)].Plus(g)
	s.ByTool[tool] = s.ByTool[tool].Plus(g)
	s.UniqueTokensRemoved += g.Saved
}

// DropBlock takes back one AddBlock: the block is shown in another form from now on.
func (s *Session) DropBlock(form turn.Form, tool string, before, after int) {
	g := Group{Blocks: -1, Hidden: -hidden(form), TokensBefore: -before, TokensAfter: -after, Saved: after - before}
	take(s.ByForm, string(form), g)
	take(s.ByTool, tool, g)
	s.UniqueTokensRemoved += g.Saved
}

func hidden(form turn.Form) int {
	if form.Hides() {
		return 1
	}
	return 0
}

func take(by map[string]Group, name string, g Group) {
	if sum := by[name].Plus(g); sum.Blocks > 0 {
		by[name] = sum
	} else {
		delete(by, name)
	}
}

// AddReason counts one block or turn that ended for a reason.
func (s *Session) AddReason(r turn.Reason) {
	if s.Reasons == nil {
		s.Reasons = map[string]int{}
	}
	s.Reasons[string(r)]++
}

// AddTurn books one turn: its input tokens as recorded and as sent, and the time it
// took in ms. Turns becomes at least the number of turns booked.
func (s *Session) AddTurn(raw, final int, ms float64) {
	s.Tokens.Raw += raw
	s.Tokens.Final += final
	s.latencies = append(s.latencies, ms)
	s.Turns = max(s.Turns, len(s.latencies))
}

// Finish computes what follows from the other figures: saved tokens, percentages,
// latencies, the share of the optimum, and empty maps for absent ones. New calls it.
func (s *Session) Finish() {
	s.Tokens.Saved = s.Tokens.Raw - s.Tokens.Final
	s.Denominators.Request = s.Tokens.Raw
	s.Denominators.Bill = s.Cost.Raw
	s.Cost.SavedPct = percent(s.Cost.Raw-s.Cost.Final-s.Cost.RecoveryDebit, s.Cost.Raw)
	s.Cost.ShareOfOptimum = nil
	if c := s.Cost; c.Birth != nil && c.Optimum != nil && *c.Birth != *c.Optimum {
		share := (*c.Birth - c.Final - c.RecoveryDebit) / (*c.Birth - *c.Optimum)
		s.Cost.ShareOfOptimum = &share
	}
	s.Hidden = s.HiddenBlocks()
	s.Latency = latencyOf(s.latencies)
	if s.ByForm == nil {
		s.ByForm = map[string]Group{}
	}
	if s.ByTool == nil {
		s.ByTool = map[string]Group{}
	}
	if s.Reasons == nil {
		s.Reasons = map[string]int{}
	}
	if s.Epochs == nil {
		s.Epochs = []Epoch{}
	}
}

// HiddenBlocks is how many blocks are shown in a form that hides text.
func (s Session) HiddenBlocks() int {
	n := 0
	for _, g := range s.ByForm {
		n += g.Hidden
	}
	return n
}

// Net is the final bill with its recovery debit.
func (c Cost) Net() float64 { return c.Final + c.RecoveryDebit }

func percent(part, whole float64) *float64 {
	if whole == 0 {
		return nil
	}
	p := 100 * part / whole
	return &p
}

// latencyOf gives nearest-rank percentiles.
func latencyOf(all []float64) Latency {
	if len(all) == 0 {
		return Latency{}
	}
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, cmp.Compare[float64])
	rank := func(p int) *float64 {
		v := sorted[max((len(sorted)*p+99)/100, 1)-1]
		return &v
	}
	return Latency{P50: rank(50), P99: rank(99), Max: rank(100)}
}
