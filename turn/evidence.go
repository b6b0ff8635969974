package turn

// Artifact is one exact text on its way into the vault.
type Artifact struct {
	Digest Digest
	Text   string
	Tool   string // name of the tool that produced it, "" unknown
	Args   string // raw JSON arguments of that call; the vault bounds it
	CallID string
	Kind   string // content kind, e.g. "log"
}

// Evidence is everything one turn asks the vault to make durable in one
// transaction: artifacts with their pins and observations, and the intended forms.
type Evidence struct {
	Binding   Binding
	Artifacts []Artifact
	Nodes     []Node

	// Held are the artifacts of remembered decisions whose ids the turn shows again. The
	// vault looks whether they still stand; those that do not are taken from Source,
	// which has the request in hand, and stored again in the same transaction.
	Held   []Digest
	Source Source // nil: nothing can be stored again

	Ready any // what the vault made of Artifacts beforehand, nil when it did not
}

// Source gives artifacts whose texts stand in the request in hand.
type Source interface {
	// Held is the artifact with this digest; ok is false when the text is not at hand.
	// It may be called from another goroutine than its owner's, while that one waits.
	Held(d Digest) (a Artifact, ok bool)
}

// Proof says that one artifact was written, pinned and read back with the same hash.
type Proof struct {
	Artifact ArtifactID // the id the vault uses; the long one after a collision
	Shown    string     // shortest unique prefix, bound to this artifact from now on
}

// Pinned answers Evidence. Proofs holds only artifacts whose read-back matched;
// an edit whose artifact is missing here must be dropped. Held artifacts that were
// stored again have a proof too; Missing are those that neither stand nor could be
// stored again, and what shows their ids must be shown as it was.
type Pinned struct {
	Binding Binding
	Proofs  map[Digest]Proof
	Missing []Digest
	Reason  Reason // "" when the whole transaction held
}
