package reports

import (
	"token-terminator/turn"
)

func study() PriceRow {
	return PriceRow{Name: "study", AsOf: "2026-11-30", Source: "replay study", Input: 1, Read: 0.1, Write: 1.25, Output: 5, MinPrefix: 1024, TTL: 300}
}

func ptr(v float64) *float64 { return &v }

// saver is a session that saves, hides and was needed once.
func saver() Session {
	s := Session{
		ID: "claude-code/a-session-with-quite-a-long-name-fe869ecb", Source: "example", Model: "gpt-4o", Tokenizer: "o200k_base", Messages: 41,
		PrefixAdded: 11_000, Denominators: Denominators{Touchable: 30_000, NewInput: 48_000}, PassthroughTurns: 1, Artifacts: 3,
		RecoveriesChecked: 3, NeededLater: NeededLater{Count: 1, Debit: 1234.4},
		Cost:   Cost{Unit: "ite", PriceRow: study(), Assumed: true, Raw: 140_000, Final: 120_000, RecoveryDebit: 1_400, Birth: ptr(121_400)},
		Tokens: Tokens{Measure: Exact},
	}
	for i := range 20 {
		s.AddTurn(1000*(i+1), 900*(i+1), float64(i)+0.5)
	}
	s.AddBlock(turn.Compressed, "Bash", 4000, 1500)
	s.AddBlock(turn.Compressed, "kubectl", 2000, 900)
	s.AddBlock(turn.Delta, "Read", 3000, 700)
	s.AddReason(turn.CompressedLog)
	s.AddReason(turn.CompressedLog)
	s.AddReason(turn.DeltaRuns)
	s.AddReason(turn.BelowFloor)
	return s
}

// loser is a session that pays for the tool and gets nothing.
func loser() Session {
	s := Session{
		ID: "tau-bench/t3", Source: "example", Model: "gpt-4o", Tokenizer: "o200k_base", Messages: 20, Denominators: Denominators{NewInput: 9000},
		Cost:   Cost{Unit: "ite", PriceRow: study(), Assumed: true, Raw: 9_000, Final: 9_080, Birth: ptr(9_080)},
		Tokens: Tokens{Measure: Exact},
	}
	for range 9 {
		s.AddTurn(3000, 3090, 0.25)
	}
	s.AddReason(turn.BelowFloor)
	return s
}

// panelled is a session measured by the panel.
func panelled() Session {
	s := saver()
	s.ID, s.Model, s.Tokenizer, s.Tokens.Measure = "sub-agent", "claude-haiku-4-5", "panel", Panel
	return s
}
