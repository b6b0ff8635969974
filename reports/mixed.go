package reports

// mixedTotal is a total over sessions of both measures as JSON has it: what would add
// tokens of one measure to those of the other is null.
type mixedTotal struct {
	Session
	UniqueTokensRemoved *int                  `json:"unique_tokens_removed"`
	Denominators        mixedDenominators     `json:"denominators"`
	ByForm              map[string]mixedGroup `json:"by_form"`
	ByTool              map[string]mixedGroup `json:"by_tool"`
}

type mixedDenominators struct {
	Touchable *int    `json:"touchable"`
	NewInput  *int    `json:"new_input"`
	Request   *int    `json:"request"`
	Bill      float64 `json:"bill"`
}

// mixedGroup counts blocks; their tokens are of two measures.
type mixedGroup struct {
	Blocks       int  `json:"blocks"`
	Hidden       int  `json:"hidden"`
	TokensBefore *int `json:"tokens_before"`
	TokensAfter  *int `json:"tokens_after"`
	Saved        *int `json:"saved"`
}

// asJSON is the total as it is written.
func asJSON(t Session) any {
	if t.Tokens.Measure != Mixed {
		return t
	}
	return mixedTotal{
		Session: t, Denominators: mixedDenominators{Bill: t.Denominators.Bill},
		ByForm: blocksOnly(t.ByForm), ByTool: blocksOnly(t.ByTool),
	}
}

func blocksOnly(by map[string]Group) map[string]mixedGroup {
	out := make(map[string]mixedGroup, len(by))
	for name, g := range by {
		out[name] = mixedGroup{Blocks: g.Blocks, Hidden: g.Hidden}
	}
	return out
}
