package turn

// Form is how a block may be shown.
type Form string

// The forms of a block. What each may do stands in docs/turn.md.
const (
	Original   Form = "original"
	Layout     Form = "layout"
	Reference  Form = "reference"
	Delta      Form = "delta"
	Compressed Form = "compressed"
	Receipt    Form = "receipt"
	IR         Form = "ir"
	Omitted    Form = "omitted"
)

// Hides says whether the form takes text out of sight, so that it may only be
// used when the request declares the recovery tool.
func (f Form) Hides() bool {
	switch f {
	case Compressed, Receipt, IR, Omitted:
		return true
	}
	return false
}

// Base names an earlier string that a reference or delta leans on.
type Base struct {
	Message int    `json:"message"` // index of the message in the request
	Block   string `json:"block"`   // RFC 6901 pointer inside the message
}

// Decision is how one string of one message is shown, from the first time it is
// sent until an epoch changes it.
type Decision struct {
	Block string `json:"block"` // RFC 6901 pointer inside the message, e.g. "/content"
	// Of is the index of an earlier message that an epoch shows anew from this node
	// on; 0 means the node's own message. Only a request whose chain runs through the
	// node shows it so: forks that left the chain before keep the older form.
	Of       int        `json:"of,omitempty"`
	Form     Form       `json:"form"`
	Reason   Reason     `json:"reason"`
	Tool     string     `json:"tool,omitempty"`
	Kind     string     `json:"kind,omitempty"`
	Before   Digest     `json:"before"`             // SHA-256 of the whole old string
	Artifact ArtifactID `json:"artifact,omitempty"` // where the whole old string stands
	// Text is the whole new string, decoded. When ShownAt >= 0 the shown id stands
	// at that byte offset and is ShownLen bytes long ("a_" and hex); the vault may
	// lengthen it to the shortest unique prefix before the text is published.
	Text         string `json:"text"`
	ShownAt      int    `json:"shown_at"`
	ShownLen     int    `json:"shown_len,omitempty"`
	Bases        []Base `json:"bases,omitempty"` // at most 3
	Renderer     string `json:"renderer"`        // version of the code that rendered Text
	TokensBefore int    `json:"tokens_before,omitempty"`
	TokensAfter  int    `json:"tokens_after,omitempty"`
}

// MaxBases is how many earlier strings a delta may lean on.
const MaxBases = 3

// ShownID is the artifact id or prefix that Text shows, "" when it shows none.
func (d Decision) ShownID() string {
	if d.ShownAt < 0 || d.ShownLen <= 0 || d.ShownAt+d.ShownLen > len(d.Text) {
		return ""
	}
	return d.Text[d.ShownAt : d.ShownAt+d.ShownLen]
}

// WithShownID returns d with the shown id replaced.
func (d Decision) WithShownID(id string) Decision {
	if d.ShownID() == "" {
		return d
	}
	d.Text = d.Text[:d.ShownAt] + id + d.Text[d.ShownAt+d.ShownLen:]
	d.ShownLen = len(id)
	return d
}

// Node is what the form memory knows of one message at one place of a chain.
// A node without decisions says: this message was sent as it is.
type Node struct {
	Hash      Digest     `json:"hash"`   // H(i), see Chain
	Parent    Digest     `json:"parent"` // H(i-1), zero for the first message
	Index     int        `json:"index"`
	Decisions []Decision `json:"decisions,omitempty"`
}

// Edit replaces one JSON string of a request.
type Edit struct {
	Pointer string `json:"pointer"`       // RFC 6901, from the root of the request
	Before  Digest `json:"sha256_before"` // over the old string's UTF-8, decoded
	Value   string `json:"value"`
}
