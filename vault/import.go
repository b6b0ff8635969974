package vault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"token-terminator/internal/safefile"
	"token-terminator/internal/sqlitefile"
	"token-terminator/turn"
	"token-terminator/vault/codec"
)

// What an import takes at once, and of one artifact.
const (
	importRows       = 128
	importBytes      = 8 << 20
	importSightings  = 10_000
	newestReference  = 2 // user_version of the newest file that is understood
	importedSession  = "imported"
	maxRefused       = 1_000
	referenceTable   = "artifacts"
	observationTable = "artifact_observations"
)

// ErrReference says that a file is no artifact store of the Python program.
var ErrReference = errors.New("the file is no artifact store that can be imported")

// Refused is a row that was not imported.
type Refused struct {
	ID  string `json:"artifact_id"`
	Why string `json:"why"`
}

// Imported is what an import found and did.
type Imported struct {
	Path         string    `json:"path"`
	Rows         int       `json:"rows"`
	New          int       `json:"new"`
	Known        int       `json:"known"` // here before
	Bytes        int64     `json:"bytes"` // of the new ones
	Pins         int       `json:"pins"`
	Observations int       `json:"observations"`
	Refused      []Refused `json:"refused"`
	More         int       `json:"more,omitempty"` // refused beyond the first 1,000
}

// CheckImport says what Import would do, reading everything and writing nothing. v is
// nil when there is no vault yet.
func CheckImport(ctx context.Context, v *Vault, file string, progress func(done, total int)) (Imported, error) {
	return importFile(ctx, v, true, file, progress)
}

// Import copies the artifacts of the Python program's store, with who saw them and
// which are protected there. Their ids follow the same rule and stay as they are. Each
// text must match its hash and its id, else the row is refused and named. The file is
// read only: not a byte of it, nor a file beside it, is written. Batches are durable
// one by one and read back; an import that ends in the middle is taken up by another.
func (v *Vault) Import(ctx context.Context, file string, progress func(done, total int)) (Imported, error) {
	if v.db == nil {
		return Imported{Path: file, Refused: []Refused{}}, ErrReadOnly
	}
	return importFile(ctx, v, false, file, progress)
}

// importer carries one import.
type importer struct {
	ctx       context.Context
	v         *Vault // nil in a check without a vault
	dry       bool
	maxRunes  int
	from      *sqlitefile.Foreign
	sightings string // query of observations, "" when the file has none
	promises  string // query of sessions that are protected by the other program
	out       Imported
	batch     []*foreignItem
	size      int
	fresh     map[turn.Digest]bool // met in this run, for a check
}

// foreignItem is one good row.
type foreignItem struct {
	*item
	id      string
	created int64
	seen    []*sighting
	pins    []string
}

// sighting is one observation of the other program.
type sighting struct {
	session string
	item    *item // same text, with this call's labels
}

func importFile(ctx context.Context, v *Vault, dry bool, file string, progress func(done, total int)) (out Imported, err error) {
	im := &importer{ctx: ctx, v: v, dry: dry, maxRunes: DefaultMaxRunes, fresh: map[turn.Digest]bool{}}
	im.out = Imported{Path: file, Refused: []Refused{}}
	if v != nil {
		im.maxRunes = v.o.MaxArtifactRunes
	}
	if im.from, err = sqlitefile.OpenForeign(ctx, file); err != nil {
		return im.out, err
	}
	defer func() { err = errors.Join(err, im.from.Close()) }()
	columns, err := im.schema(file)
	if err != nil {
		return im.out, err
	}
	return im.out, im.rows(columns, progress)
}

// schema checks that the file is what it should be and says which of the optional
// columns it has.
func (im *importer) schema(file string) (columns []string, err error) {
	refuse := func(why string) error {
		return &safefile.Error{Op: "import", Path: file, Err: fmt.Errorf("%w: %s", ErrReference, why), Advice: "name the program's artifacts.sqlite3"}
	}
	_, version, err := sqlitefile.Versions(im.ctx, im.from.DB)
	if err != nil {
		return nil, sqlitefile.Explain("import", file, err)
	}
	if version > newestReference {
		return nil, refuse(fmt.Sprintf("its version %d is newer than %d", version, newestReference))
	}
	if columns, err = im.from.Columns(im.ctx, referenceTable); err != nil {
		return nil, sqlitefile.Explain("import", file, err)
	}
	for _, need := range []string{"artifact_id", "sha256", "content"} {
		if !slices.Contains(columns, need) {
			return nil, refuse("it has no " + referenceTable + " with " + need)
		}
	}
	return columns, im.companions()
}

// companions builds the queries for the tables that older files lack.
func (im *importer) companions() error {
	has := func(table string, columns ...string) (bool, error) {
		have, err := im.from.Columns(im.ctx, table)
		for _, c := range columns {
			if !slices.Contains(have, c) {
				return false, err
			}
		}
		return true, err
	}
	ok, err := has(observationTable, "artifact_id", "session_id", "tool_call_id", "tool_name", "args_json")
	if err != nil {
		return err
	}
	if ok {
		im.sightings = `SELECT coalesce(session_id, ''), coalesce(tool_call_id, ''), coalesce(tool_name, ''), coalesce(args_json, '')
			FROM artifact_observations WHERE artifact_id = ?1 ORDER BY 1, 2, 3, 4 LIMIT ?2`
	}
	var parts []string
	for _, t := range [][2]string{{"artifact_exposures", "session_id"}, {"tt_context_sources", "session_id"}, {"terminal_snapshots", "session_scope"}} {
		ok, err := has(t[0], "artifact_id", t[1])
		if err != nil {
			return err
		}
		if ok {
			parts = append(parts, `SELECT coalesce(`+t[1]+`, '') FROM `+t[0]+` WHERE artifact_id = ?1`)
		}
	}
	if len(parts) > 0 {
		im.promises = strings.Join(parts, ` UNION `) + ` ORDER BY 1 LIMIT ?2`
	}
	return nil
}

func (im *importer) rows(columns []string, progress func(done, total int)) error {
	total := 0
	if err := im.from.QueryRowContext(im.ctx, `SELECT count(*) FROM artifacts`).Scan(&total); err != nil {
		return sqlitefile.Explain("import", im.out.Path, err)
	}
	optional := func(name string) string {
		if slices.Contains(columns, name) {
			return `coalesce(CAST(` + name + ` AS TEXT), '')`
		}
		return `''`
	}
	rows, err := im.from.QueryContext(im.ctx, `SELECT coalesce(CAST(artifact_id AS TEXT), ''), coalesce(CAST(sha256 AS TEXT), ''),
		CASE WHEN length(CAST(content AS BLOB)) <= ?1 THEN CAST(content AS BLOB) END, content IS NULL,
		`+optional("tool_name")+`, `+optional("created_at")+` FROM artifacts ORDER BY artifact_id`, int64(4*im.maxRunes))
	if err != nil {
		return sqlitefile.Explain("import", im.out.Path, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := im.row(rows); err != nil {
			return err
		}
		if progress != nil && im.out.Rows%importRows == 0 {
			progress(im.out.Rows, total)
		}
	}
	if err := rows.Err(); err != nil {
		return sqlitefile.Explain("import", im.out.Path, err)
	}
	return im.flush()
}

func (im *importer) row(rows *sql.Rows) error {
	var id, sha, tool, created string
	var content []byte
	var none bool
	if err := rows.Scan(&id, &sha, &content, &none, &tool, &created); err != nil {
		return sqlitefile.Explain("import", im.out.Path, err)
	}
	im.out.Rows++
	it, why := im.good(id, sha, content, none, tool)
	if why != "" {
		im.refuse(id, why)
		return nil
	}
	f := &foreignItem{item: it, id: id, created: createdAt(created)}
	if err := im.provenance(f); err != nil {
		return err
	}
	im.batch, im.size = append(im.batch, f), im.size+len(it.Text)
	if len(im.batch) < importRows && im.size < importBytes {
		return nil
	}
	return im.flush()
}

// good checks a row by the identity rule both programs share.
func (im *importer) good(id, sha string, content []byte, none bool, tool string) (*item, string) {
	digest := turn.SumBytes(content)
	switch {
	case none:
		return nil, "it has no content"
	case content == nil:
		return nil, "its content is larger than the limit"
	case digest.String() != sha:
		return nil, "its content does not match its hash"
	case id != string(digest.ID()) && id != string(digest.LongID()):
		return nil, "its id is not that of its content"
	}
	it, err := newItem(turn.Artifact{Digest: digest, Text: string(content), Tool: tool}, im.maxRunes)
	if err != nil {
		return nil, err.Error()
	}
	return it, ""
}

func (im *importer) refuse(id, why string) {
	if len(im.out.Refused) == maxRefused {
		im.out.More++
		return
	}
	im.out.Refused = append(im.out.Refused, Refused{codec.Label(id), why})
}

// createdAt reads the other program's time in milliseconds, 0 when it is none.
func createdAt(s string) int64 {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil && t.UnixMilli() > 0 {
			return t.UnixMilli()
		}
	}
	return 0
}
