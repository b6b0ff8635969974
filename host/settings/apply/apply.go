// Package apply turns settings into what the packages below want. It is apart from
// settings, so that reading settings links no database.
package apply

import (
	"time"

	"token-terminator/actors"
	"token-terminator/host/settings"
	"token-terminator/ledger"
	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/reduce/compile"
	"token-terminator/reduce/form"
	"token-terminator/vault"
)

// Compile is what a session's Compiler may do, at the prices of row.
func Compile(s settings.Settings, row plan.Row) compile.Settings {
	return compile.Settings{
		Off: !s.Active() || !s.TokenBudget, Assume: s.Assume, Row: row,
		Reduce: reduce.Settings{
			Preset: reduce.Preset(s.Preset), Excluded: s.ExcludeTools,
			Form: form.Settings{Head: s.Head, Tail: s.Tail, Context: s.ContextLines, MaxTokens: s.MaxView, Tight: s.Preset == string(reduce.Tight)},
		},
		Plan:     Plan(s),
		NoLayout: !s.Layout, NoDelta: !s.Delta, NoHiding: !s.Compressed, NoEpochs: !s.Receipts, Cache: plan.Cache(s.CacheModel),
	}
}

// Plan is the numbers of the decisions. plan takes 0 for "the default", so a 0 of a
// user's is handed over as a negative number.
func Plan(s settings.Settings) plan.Settings {
	p := plan.Settings{
		SizeGate: s.SizeGate, FloorHiding: s.FloorHiding, FloorVisible: s.FloorVisible,
		LeastGain: s.LeastGain, LeastGainPct: s.LeastGainPct, RecoveryPct: s.RecoveryPct,
		ReceiptAge: s.ReceiptAge, ReceiptGain: s.ReceiptGain, StrictReads: s.StrictReads, Bank: s.EpochBank,
	}
	if s.ReceiptGain == 0 {
		p.ReceiptGain = -1
	}
	if s.RecoveryPct == 0 {
		p.RecoveryPct = -1
	}
	return p
}

// Row is the price row of a model's requests: the one that was named, the model's, else
// the study's.
func Row(s settings.Settings, prices plan.Prices, model string) plan.Row {
	name := s.PriceRow
	if name == "" {
		name = model
	}
	day := s.PricesAsOf
	if !plan.IsDay(day) {
		day = prices.AsOf()
	}
	if name != plan.StudyName {
		if row, err := prices.Pick(name, day); err == nil {
			return row
		}
	}
	return plan.Study()
}

// Vault is how the vault is opened.
func Vault(s settings.Settings) vault.Options {
	return vault.Options{
		CapacityBytes: s.VaultMaxBytes, HighWaterPct: s.HighWater, LowWaterPct: s.LowWater,
		MaxArtifactRunes: s.MaxArtifactChars, Synchronous: s.Synchronous,
	}
}

// Ledger is how the ledger is opened.
func Ledger(s settings.Settings) ledger.Options {
	return ledger.Options{Keep: time.Duration(s.LedgerDays) * 24 * time.Hour, Synchronous: s.Synchronous}
}

// Actors fills in the bounds of an actor system.
func Actors(s settings.Settings, c *actors.Config) {
	c.TurnTimeout, c.MaxTurns, c.MaxBytes = s.TurnTimeout, s.MaxTurns, s.MaxTurnBytes
}
