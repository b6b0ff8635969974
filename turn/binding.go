package turn

// Binding names one attempt of one turn. Only the Session actor issues it; every
// message of that turn carries it, and an answer whose binding is no longer the
// current one is dropped.
type Binding struct {
	Engine     string `json:"engine"`
	Home       string `json:"home"`
	Session    string `json:"session"` // the session chain's name
	Generation uint64 `json:"generation"`
	Turn       uint64 `json:"turn"`
	Attempt    uint64 `json:"attempt"`
}

// SameTurn says whether two bindings are attempts of one turn.
func (b Binding) SameTurn(other Binding) bool {
	b.Attempt, other.Attempt = 0, 0
	return b == other
}
