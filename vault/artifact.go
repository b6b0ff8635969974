package vault

import (
	"time"

	"token-terminator/turn"
	"token-terminator/vault/view"
)

// Summary describes an artifact without its text.
type Summary struct {
	ID           turn.ArtifactID `json:"artifact_id"`
	Shown        string          `json:"shown_id,omitempty"` // the prefix bound to it, "" when it was never shown
	Digest       turn.Digest     `json:"sha256"`
	Chars        int             `json:"total_chars"`
	Bytes        int             `json:"total_bytes"`
	Tool         string          `json:"tool_name,omitempty"` // as first seen
	Kind         string          `json:"kind,omitempty"`
	Created      time.Time       `json:"created_at"`
	LastSeen     time.Time       `json:"last_seen_at"`
	Observations int             `json:"observation_count"` // of this session; of all for the operator
	Pinned       bool            `json:"pinned"`
}

// Artifact is a verified original.
type Artifact struct {
	Summary
	Text string `json:"-"`

	// Of the session's first observation.
	CallID       string          `json:"tool_call_id,omitempty"`
	Args         string          `json:"args,omitempty"` // verbatim up to 4 KiB, else a preview
	ArgsBytes    int             `json:"args_bytes,omitempty"`
	ArgsArtifact turn.ArtifactID `json:"args_artifact_id,omitempty"` // the whole of long arguments
}

// Page is an exact part of an artifact.
type Page struct {
	ID turn.ArtifactID `json:"artifact_id"`
	view.Page
	Digest turn.Digest `json:"sha256"` // of the whole artifact
	Tool   string      `json:"tool_name,omitempty"`
}

// Lines is an exact range of lines of an artifact.
type Lines struct {
	ID turn.ArtifactID `json:"artifact_id"`
	view.Lines
	Digest turn.Digest `json:"sha256"`
}

// Found is what a search inside one artifact gave.
type Found struct {
	ID turn.ArtifactID `json:"artifact_id"`
	view.Found
}

// Diff says how a second artifact differs from a first.
type Diff struct {
	First  turn.ArtifactID `json:"first"`
	Second turn.ArtifactID `json:"second"`
	view.Diff
}

// Listing is a bounded list of artifacts, newest first.
type Listing struct {
	Artifacts []Summary `json:"artifacts"`
	Truncated bool      `json:"truncated"`
	// Damaged is how many originals a search could not read: what they hold is not known.
	Damaged int `json:"damaged,omitempty"`
}
