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
}

// Proof says that one artifact was written, pinned and read back with the same hash.
type Proof struct {
	Artifact ArtifactID // the id the vault uses; the long one after a collision
	Shown    string     // shortest unique prefix, bound to this artifact from now on
}

// Pinned answers Evidence. Proofs holds only artifacts whose read-back matched;
// an edit whose artifact is missing here must be dropped.
type Pinned struct {
	Binding Binding
	Proofs  map[Digest]Proof
	Reason  Reason // "" when the whole transaction held
}
