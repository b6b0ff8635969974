package vault

// query names a prepared statement of the writer's connection.
type query int

const (
	qBegin query = iota
	qCommit
	qSavepoint
	qRelease
	qTouchSession
	qLook
	qBodyBySeq
	qHealArtifact
	qHealBody
	qSeeArtifact
	qInsertArtifact
	qInsertBody
	qDropTombstone
	qObserve
	qSeeObservation
	qPin
	qUsePin
	qOwner
	qInsertShown
	qUpsertNode
	qUsed
	qCount
	qRemoved
	qStanding
	qPrunable
	qDeleteArtifact
	qDeleteObservations
	qInsertTombstone
	qTrimTombstones
	qCountPruned
)

// queries are indexed by query. All but the first run inside a transaction.
var queries = [...]struct{ name, text string }{
	qBegin:     {"begin", `BEGIN IMMEDIATE`},
	qCommit:    {"commit", `COMMIT`},
	qSavepoint: {"savepoint", `SAVEPOINT turn`},
	qRelease:   {"release", `RELEASE turn`},
	qTouchSession: {"touch session", `INSERT INTO sessions (session, created, last_used) VALUES (?1, ?2, ?2)
		ON CONFLICT (session) DO UPDATE SET last_used = excluded.last_used`},
	qLook: {"find artifact", `SELECT a.seq, coalesce(a.id, ''), coalesce(a.bytes, 0), coalesce(a.runes, 0), b.codec, length(b.body),
		coalesce(s.prefix, ''), coalesce(s.id, ''),
		(a.seq IS NOT NULL OR s.sha IS NOT NULL) AND EXISTS (SELECT 1 FROM pins WHERE sha = ?1 AND session = ?3),
		(a.seq IS NOT NULL OR s.sha IS NOT NULL) AND EXISTS (SELECT 1 FROM observations
			WHERE sha = ?1 AND session = ?3 AND call_id = ?4 AND tool = ?5),
		CASE WHEN a.seq IS NULL THEN (SELECT sha FROM tombstones WHERE id = ?2) END,
		CASE WHEN s.sha IS NULL THEN (SELECT max(sha) FROM artifacts WHERE sha < ?1) END,
		CASE WHEN s.sha IS NULL THEN (SELECT min(sha) FROM artifacts WHERE sha > ?1) END,
		CASE WHEN s.sha IS NULL THEN (SELECT max(sha) FROM shown WHERE sha < ?1) END,
		CASE WHEN s.sha IS NULL THEN (SELECT min(sha) FROM shown WHERE sha > ?1) END
		FROM (SELECT 1) LEFT JOIN artifacts a ON a.sha = ?1 LEFT JOIN bodies b ON b.seq = a.seq LEFT JOIN shown s ON s.sha = ?1`},
	qBodyBySeq:    {"read body", `SELECT codec, body FROM bodies WHERE seq = ?1`},
	qHealArtifact: {"heal artifact", `UPDATE artifacts SET bytes = ?2, runes = ?3, cost = ?4 WHERE seq = ?1`},
	qHealBody:     {"heal body", `INSERT OR REPLACE INTO bodies (seq, codec, body) VALUES (?1, ?2, ?3)`},
	qSeeArtifact:  {"see artifact", `UPDATE artifacts SET last_seen = max(last_seen, ?2), pin_count = pin_count + ?3 WHERE seq = ?1`},
	qInsertArtifact: {"insert artifact", `INSERT INTO artifacts (id, sha, bytes, runes, tool, kind, created, last_seen, cost, pin_count)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, (SELECT count(*) FROM pins WHERE sha = ?2))`},
	qInsertBody:    {"insert body", `INSERT OR REPLACE INTO bodies (seq, codec, body) VALUES (?1, ?2, ?3)`},
	qDropTombstone: {"drop tombstone", `DELETE FROM tombstones WHERE id = ?1`},
	qObserve: {"insert observation", `INSERT INTO observations
		(session, sha, call_id, tool, args, args_bytes, args_sha, first_seen, last_seen, cost)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)
		ON CONFLICT (sha, session, call_id, tool) DO UPDATE SET last_seen = max(last_seen, excluded.last_seen)`}, // only where a row was lost
	qSeeObservation: {"see observation", `UPDATE observations SET last_seen = max(last_seen, ?5)
		WHERE sha = ?2 AND session = ?1 AND call_id = ?3 AND tool = ?4`},
	qPin: {"insert pin", `INSERT INTO pins (session, sha, id, class, generation, turn, attempt, created, last_used, cost)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)`},
	qUsePin: {"use pin", `UPDATE pins SET last_used = max(last_used, ?3) WHERE sha = ?2 AND session = ?1`},
	qOwner: {"find owner", `SELECT coalesce((SELECT sha FROM artifacts WHERE sha BETWEEN ?1 AND ?2 AND id = ?3),
		(SELECT sha FROM shown WHERE sha BETWEEN ?1 AND ?2 AND id = ?3))`},
	qInsertShown: {"insert shown id", `INSERT INTO shown (prefix, sha, id) VALUES (?1, ?2, ?3)`},
	qUpsertNode: {"insert node", `INSERT INTO nodes (session, hash, parent, idx, accepted, turn, created, cost, decisions)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
		ON CONFLICT (session, hash) DO UPDATE SET parent = excluded.parent, idx = excluded.idx, accepted = excluded.accepted,
		turn = excluded.turn, cost = excluded.cost, decisions = excluded.decisions`},
	qUsed:    {"read used", `SELECT value FROM counters WHERE name = 'used'`},
	qCount:   {"count", `UPDATE counters SET value = value + ?1 WHERE name = 'used' RETURNING value`},
	qRemoved: {"read removed", `SELECT value FROM counters WHERE name = 'removed'`},
	qStanding: {"look for held", `SELECT p.sha FROM (SELECT unhex(value) AS sha FROM json_each(?2)) want
		CROSS JOIN pins p ON p.sha = want.sha AND p.session = ?1
		JOIN artifacts a ON a.sha = p.sha JOIN bodies b ON b.seq = a.seq JOIN shown s ON s.sha = p.sha`},
	qPrunable: {"list prunable", `SELECT seq, sha, id, cost FROM artifacts INDEXED BY artifacts_prunable
		WHERE pin_count = 0 ORDER BY last_seen, seq LIMIT ?1`},
	qDeleteArtifact:     {"delete artifact", `DELETE FROM artifacts WHERE seq = ?1`},
	qDeleteObservations: {"delete observations", `DELETE FROM observations WHERE sha = ?1`},
	qInsertTombstone:    {"insert tombstone", `INSERT OR REPLACE INTO tombstones (id, sha, reason, gone) VALUES (?1, ?2, ?3, ?4)`},
	qTrimTombstones: {"trim tombstones", `DELETE FROM tombstones WHERE id IN
		(SELECT id FROM tombstones ORDER BY gone DESC, id LIMIT -1 OFFSET ?1)`},
	qCountPruned: {"count pruned", `UPDATE counters SET value = value + CASE name WHEN 'pruned' THEN ?1 ELSE ?2 END
		WHERE name IN ('pruned', 'pruned_bytes')`},
}

// read names a prepared statement of the readers' pool.
type read int

const (
	rBound read = iota
	rCandidates
	rOwns
	rHasRow
	rTombstone
	rWasShown
	rArtifact
	rFirstCall
	rIDBySHA
	rReadBack
	rReadBackOne
	rProof
)

// readQueries are indexed by read: the ones of single artifacts, which run often.
var readQueries = [...]string{
	rBound:      `SELECT id, sha FROM shown WHERE sha BETWEEN ?1 AND ?2 AND prefix = ?3`,
	rCandidates: `SELECT id, sha FROM artifacts WHERE sha BETWEEN ?1 AND ?2 ORDER BY sha LIMIT ?3`,
	rOwns: `SELECT EXISTS (SELECT 1 FROM pins WHERE session = ?1 AND sha = ?2)
		OR EXISTS (SELECT 1 FROM observations WHERE session = ?1 AND sha = ?2)`,
	rHasRow:    `SELECT count(*) FROM artifacts WHERE sha = ?1`,
	rTombstone: `SELECT reason FROM tombstones WHERE id >= ?1 AND id < ?1 || 'g' ORDER BY id LIMIT 1`,
	rWasShown:  `SELECT count(*) FROM shown WHERE sha BETWEEN ?1 AND ?2`,
	rArtifact: `SELECT ` + summaryColumns + `, b.codec, b.body
		FROM artifacts a LEFT JOIN bodies b ON b.seq = a.seq WHERE a.sha = ?2`,
	rFirstCall: `SELECT call_id, args, args_bytes, args_sha FROM observations
		WHERE sha = ?2 AND (?1 = '' OR session = ?1) ORDER BY first_seen, session, call_id, tool LIMIT 1`,
	rIDBySHA:     `SELECT id FROM artifacts WHERE sha = ?1`,
	rReadBackOne: `SELECT 0, a.bytes, a.runes, b.codec, b.body FROM artifacts a JOIN bodies b ON b.seq = a.seq WHERE a.sha = ?1`,
	rReadBack: `SELECT want.key, a.bytes, a.runes, b.codec, b.body FROM json_each(?1) want
		CROSS JOIN artifacts a ON a.sha = unhex(want.value) JOIN bodies b ON b.seq = a.seq`,
	rProof: `SELECT p.sha, a.id, s.prefix, b.codec, length(b.body)
		FROM (SELECT unhex(value) AS sha FROM json_each(?2)) want CROSS JOIN pins p ON p.sha = want.sha AND p.session = ?1
		JOIN artifacts a ON a.sha = p.sha JOIN bodies b ON b.seq = a.seq JOIN shown s ON s.sha = p.sha`,
}
