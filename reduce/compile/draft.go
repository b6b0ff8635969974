package compile

import (
	"slices"
	"strings"

	"token-terminator/plan"
	"token-terminator/request"
	"token-terminator/tokens"
	"token-terminator/turn"
)

// Draft is a turn between its two halves.
type Draft struct {
	c        *Compiler
	snap     Snapshot
	last     *lastTurn // of this session
	doc      *request.Doc
	segments request.Segments
	chain    []turn.Digest
	meter    *tokens.Meter
	raw      tokens.Measure
	counted  *tokens.Counted // raw by messages, nil when they do not add up
	results  resultList
	steps    []int // calls answered up to and with each message
	calls    int   // calls answered before this one
	offers   bool  // the recovery tool is declared and not forbidden

	passes    turn.Reason        // why the original goes out whatever is proposed, "" it need not
	known     int                // messages the memory knows
	blocks    []Block            // every decision in force, remembered ones first
	kept      []Kept             // new strings left alone
	resting   map[turn.Base]bool // strings whose decisions rest in this request
	artifacts []turn.Artifact    // evidence of the new decisions
	view      *view              // the texts the model sees, built when first needed
	shrunk    int                // tokens the decisions in force take away so far

	lastEpoch int     // calls answered before the last epoch, 0 when there was none
	opened    Epoch   // of this turn; Kind "" when there is none
	before    []Block // the decisions in force if that epoch is not taken

	written *rendered // the rung that goes out, nil when the original does
}

// remember takes the decisions of messages that were sent before: those made when
// they were first sent, and those of epochs that later messages of this very chain
// opened. A request that left the chain before an epoch does not see it. Where recovery
// is not offered any more, those that hide text rest, with what leans on them: a model
// must never see an id it cannot follow, even if the provider's cache is lost by it.
func (d *Draft) remember() {
	at := map[turn.Base]int{}
	for i := range d.known {
		node, ok := d.snap.Memory.Lookup(d.chain[i])
		if !ok {
			return
		}
		for _, decision := range node.Decisions {
			b := Block{Message: i}
			if decision.Of > 0 && decision.Of < i {
				b.Message, d.lastEpoch = decision.Of, d.steps[i]
			}
			b.Decision = d.placed(b.Message, decision)
			key := turn.Base{Message: b.Message, Block: b.Decision.Block}
			if n, again := at[key]; again {
				d.blocks[n] = b
				continue
			}
			at[key] = len(d.blocks)
			d.blocks = append(d.blocks, b)
		}
	}
	d.blocks = slices.DeleteFunc(d.blocks, func(b Block) bool { return b.Decision.Form == turn.Original })
	slices.SortStableFunc(d.blocks, func(a, b Block) int {
		if a.Message != b.Message {
			return a.Message - b.Message
		}
		return request.CompareBlocks(a.Decision.Block, b.Decision.Block)
	})
	if !d.offers {
		all := d.blocks
		d.blocks = d.withoutDependents(all, func(b Block) bool { return b.Decision.Form.Hides() })
		d.rest(all)
	}
	for _, b := range d.blocks {
		d.shrunk += b.Decision.TokensBefore - b.Decision.TokensAfter
	}
}

// placed is a remembered decision with its pointers as this request spells them.
func (d *Draft) placed(i int, decision turn.Decision) turn.Decision {
	decision.Block = d.place(i, decision.Block)
	decision.Bases = slices.Clone(decision.Bases)
	for n, base := range decision.Bases {
		decision.Bases[n].Block = d.place(base.Message, base.Block)
	}
	return decision
}

// place is where the string that was block of message i stands in this request: a
// message or a result is the same with its content as a string and as a single text
// part, and hosts change one into the other when they move their cache marks.
func (d *Draft) place(i int, block string) string {
	if i < 0 || i >= len(d.doc.Messages) {
		return block
	}
	other, isPart := strings.CutSuffix(block, onlyPart)
	if !isPart {
		other += onlyPart
	}
	m := &d.doc.Messages[i]
	if _, same := m.Text(block); !same {
		if _, moved := m.Text(other); moved {
			return other
		}
	}
	return block
}

// onlyPart is the end of the pointer of a text that is the only part of its list.
const onlyPart = "/0/text"

// rest notes the strings whose decisions are not in force in this request only: they
// are no base for anything new, since they will be shown differently again.
func (d *Draft) rest(all []Block) {
	d.resting = map[turn.Base]bool{}
	for _, b := range all {
		if _, ok := d.decided(b.Message, b.Decision.Block); !ok {
			d.resting[turn.Base{Message: b.Message, Block: b.Decision.Block}] = true
		}
	}
}

// decide chooses the forms of messages never sent before.
func (d *Draft) decide() {
	if d.c.settings.Plan.TooSmall(d.raw.Tokens) {
		return
	}
	for i := d.known; i < len(d.doc.Messages); i++ {
		for _, r := range d.results.of(i) {
			for _, text := range r.Texts {
				if _, done := d.decided(i, text.Block); done {
					continue // put away before it was ever sent
				}
				if size, reason := d.birth(r, text, d.offers); reason != "" {
					d.kept = append(d.kept, Kept{Message: i, Block: text.Block, Tool: d.toolOf(r), Tokens: size, Reason: reason})
				}
			}
		}
	}
}

// Evidence is what must be durable before a single edit may leave: the artifacts of
// new decisions, one node for every message sent for the first time, and the originals
// of remembered decisions.
func (d *Draft) Evidence() turn.Evidence {
	ev := turn.Evidence{Binding: d.snap.Binding, Artifacts: d.artifacts, Nodes: d.nodes(d.blocks)}
	if ev.Held = d.held(); len(ev.Held) > 0 {
		ev.Source = d
	}
	return ev
}

// nodes lists the messages first sent in this turn with the decisions among blocks.
// What an epoch decided of older messages stands in the node of the last message, so
// that it holds for requests that go on from here and for no others.
func (d *Draft) nodes(blocks []Block) []turn.Node {
	fresh := make([]turn.Node, 0, len(d.chain)-d.known)
	for i := d.known; i < len(d.chain); i++ {
		node := turn.Node{Hash: d.chain[i], Index: i}
		if i > 0 {
			node.Parent = d.chain[i-1]
		}
		fresh = append(fresh, node)
	}
	for _, b := range blocks {
		if !b.New {
			continue
		}
		at := b.Message - d.known
		if at < 0 {
			at, b.Decision.Of = len(fresh)-1, b.Message
		}
		fresh[at].Decisions = append(fresh[at].Decisions, b.Decision)
	}
	return fresh
}

func (d *Draft) facts(before int, offers, read bool) plan.BlockFacts {
	return plan.BlockFacts{
		TokensBefore: before, RequestTokens: d.raw.Tokens - d.shrunk, CallsSoFar: d.calls,
		CanRecover: offers, Read: read,
	}
}
