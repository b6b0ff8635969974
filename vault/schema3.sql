-- Step 3. A commit touches as few pages as it can: hashes are random, so each index
-- over them costs a page of its own for every artifact. Ids follow from hashes and are
-- found by ranges of them; sessions are found in the order of time. What is added is
-- counted by the writer, what goes by triggers, whoever removes it.

DROP TRIGGER artifacts_added;
DROP TRIGGER artifacts_gone;
DROP TRIGGER artifacts_cost_changed;
DROP TRIGGER observations_added;
DROP TRIGGER observations_gone;
DROP TRIGGER pins_added;
DROP TRIGGER pins_gone;

CREATE TABLE artifacts_3 (
    seq       INTEGER PRIMARY KEY,
    id        TEXT    NOT NULL,
    sha       BLOB    NOT NULL UNIQUE CHECK (length(sha) = 32),
    bytes     INTEGER NOT NULL,
    runes     INTEGER NOT NULL,
    tool      TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    created   INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    pin_count INTEGER NOT NULL DEFAULT 0,
    cost      INTEGER NOT NULL
);
INSERT INTO artifacts_3 SELECT seq, id, sha, bytes, runes, tool, kind, created, last_seen, pin_count, cost FROM artifacts ORDER BY seq;
DROP TABLE artifacts;
ALTER TABLE artifacts_3 RENAME TO artifacts;
CREATE INDEX artifacts_prunable ON artifacts (last_seen, seq) WHERE pin_count = 0;

CREATE TABLE observations_3 (
    session    TEXT    NOT NULL,
    sha        BLOB    NOT NULL,
    call_id    TEXT    NOT NULL,
    tool       TEXT    NOT NULL,
    args       TEXT    NOT NULL,
    args_bytes INTEGER NOT NULL,
    args_sha   BLOB,
    first_seen INTEGER NOT NULL,
    last_seen  INTEGER NOT NULL,
    cost       INTEGER NOT NULL,
    PRIMARY KEY (sha, session, call_id, tool)
) WITHOUT ROWID;
INSERT INTO observations_3 SELECT session, sha, call_id, tool, args, args_bytes, args_sha, first_seen, last_seen, cost FROM observations ORDER BY sha, session, call_id, tool;
DROP TABLE observations;
ALTER TABLE observations_3 RENAME TO observations;
CREATE INDEX observations_session ON observations (session, first_seen);

CREATE TABLE pins_3 (
    session    TEXT    NOT NULL,
    sha        BLOB    NOT NULL,
    id         TEXT    NOT NULL,
    class      TEXT    NOT NULL,
    generation INTEGER NOT NULL,
    turn       INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    created    INTEGER NOT NULL,
    last_used  INTEGER NOT NULL,
    cost       INTEGER NOT NULL,
    PRIMARY KEY (sha, session)
) WITHOUT ROWID;
INSERT INTO pins_3 SELECT session, sha, id, class, generation, turn, attempt, created, last_used, cost FROM pins ORDER BY sha, session;
DROP TABLE pins;
ALTER TABLE pins_3 RENAME TO pins;
CREATE INDEX pins_session ON pins (session, created);

CREATE TABLE shown_3 (
    sha    BLOB NOT NULL PRIMARY KEY,
    prefix TEXT NOT NULL,
    id     TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO shown_3 SELECT sha, prefix, id FROM shown ORDER BY sha;
DROP TABLE shown;
ALTER TABLE shown_3 RENAME TO shown;

-- removed counts the pins and artifacts that ever went. While it stands still, what was
-- found in its place is still there.
INSERT INTO counters (name, value) VALUES ('removed', 0);
UPDATE counters SET value =
    (SELECT coalesce(sum(cost), 0) FROM artifacts) + (SELECT coalesce(sum(cost), 0) FROM observations) +
    (SELECT coalesce(sum(cost), 0) FROM pins) + (SELECT coalesce(sum(cost), 0) FROM nodes) WHERE name = 'used';

CREATE TRIGGER artifacts_gone AFTER DELETE ON artifacts BEGIN
    DELETE FROM bodies WHERE seq = OLD.seq;
    UPDATE counters SET value = value - OLD.cost WHERE name = 'used';
    UPDATE counters SET value = value + 1 WHERE name = 'removed';
END;
CREATE TRIGGER artifacts_cost_changed AFTER UPDATE OF cost ON artifacts BEGIN
    UPDATE counters SET value = value + NEW.cost - OLD.cost WHERE name = 'used';
END;
CREATE TRIGGER bodies_gone AFTER DELETE ON bodies BEGIN
    UPDATE counters SET value = value + 1 WHERE name = 'removed';
END;
CREATE TRIGGER observations_gone AFTER DELETE ON observations BEGIN
    UPDATE counters SET value = value - OLD.cost WHERE name = 'used';
END;
CREATE TRIGGER pins_gone AFTER DELETE ON pins BEGIN
    UPDATE counters SET value = value - OLD.cost WHERE name = 'used';
    UPDATE counters SET value = value + 1 WHERE name = 'removed';
    UPDATE artifacts SET pin_count = pin_count - 1 WHERE sha = OLD.sha;
END;
