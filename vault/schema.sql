-- Schema 1. Artifacts are keyed by the SHA-256 of their bytes. Pins, observations
-- and shown ids name the hash and not the row, so they outlive a lost row and a
-- later turn that still holds the text can put it back.

CREATE TABLE artifacts (
    seq       INTEGER PRIMARY KEY,
    id        TEXT    NOT NULL UNIQUE,          -- a_ + 32 hex, or + 64 after a collision
    sha       BLOB    NOT NULL UNIQUE CHECK (length(sha) = 32),
    bytes     INTEGER NOT NULL,                 -- length of the text in bytes
    runes     INTEGER NOT NULL,                 -- and in Unicode code points
    tool      TEXT    NOT NULL,                 -- as first seen
    kind      TEXT    NOT NULL,
    created   INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    pin_count INTEGER NOT NULL DEFAULT 0,
    cost      INTEGER NOT NULL                  -- what the row counts against the capacity
);
CREATE INDEX artifacts_prunable ON artifacts (last_seen, seq) WHERE pin_count = 0;

-- Bodies stand apart, so that counting, pinning and listing never rewrite or read them.
CREATE TABLE bodies (
    seq   INTEGER PRIMARY KEY,
    codec INTEGER NOT NULL DEFAULT 0,           -- 0: body is the text itself
    body  BLOB    NOT NULL
);

-- One row per session, call, tool and artifact; a repeat refreshes last_seen.
CREATE TABLE observations (
    session    TEXT    NOT NULL,
    sha        BLOB    NOT NULL,
    call_id    TEXT    NOT NULL,
    tool       TEXT    NOT NULL,
    args       TEXT    NOT NULL,                -- verbatim up to 4 KiB, else a preview
    args_bytes INTEGER NOT NULL,
    args_sha   BLOB,                            -- hash of long arguments, stored as an artifact
    first_seen INTEGER NOT NULL,
    last_seen  INTEGER NOT NULL,
    cost       INTEGER NOT NULL,
    PRIMARY KEY (session, sha, call_id, tool)
) WITHOUT ROWID;
CREATE INDEX observations_sha ON observations (sha);

-- One row per session chain and artifact: the owner of the promise to keep it.
CREATE TABLE pins (
    session    TEXT    NOT NULL,
    sha        BLOB    NOT NULL,
    id         TEXT    NOT NULL,
    class      TEXT    NOT NULL,
    generation INTEGER NOT NULL,                -- of the turn that pinned first
    turn       INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    created    INTEGER NOT NULL,
    last_used  INTEGER NOT NULL,
    cost       INTEGER NOT NULL,
    PRIMARY KEY (session, sha)
) WITHOUT ROWID;
CREATE INDEX pins_sha ON pins (sha);

-- Ids that were shown stay bound to their artifact.
CREATE TABLE shown (
    prefix TEXT NOT NULL PRIMARY KEY,
    sha    BLOB NOT NULL UNIQUE,
    id     TEXT NOT NULL UNIQUE
) WITHOUT ROWID;

-- The form memory of a session chain.
CREATE TABLE nodes (
    session   TEXT    NOT NULL,
    hash      BLOB    NOT NULL,
    parent    BLOB    NOT NULL,
    idx       INTEGER NOT NULL,
    accepted  INTEGER NOT NULL,                 -- 0 pending, 1 accepted by a second commit
    turn      INTEGER NOT NULL,
    created   INTEGER NOT NULL,
    cost      INTEGER NOT NULL,
    decisions BLOB    NOT NULL,                 -- JSON array, see package codec
    UNIQUE (session, hash)
);

CREATE TABLE sessions (
    session   TEXT    NOT NULL PRIMARY KEY,
    created   INTEGER NOT NULL,
    last_used INTEGER NOT NULL
) WITHOUT ROWID;

-- What was here and went: pruned or released.
CREATE TABLE tombstones (
    id     TEXT    NOT NULL PRIMARY KEY,
    sha    BLOB    NOT NULL,
    reason TEXT    NOT NULL,
    gone   INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE counters (
    name  TEXT    NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO counters (name, value) VALUES ('used', 0), ('pruned', 0), ('pruned_bytes', 0);

-- The counter moves in the transaction that moves the rows, whoever moves them.
CREATE TRIGGER artifacts_added AFTER INSERT ON artifacts BEGIN
    UPDATE counters SET value = value + NEW.cost WHERE name = 'used';
END;
CREATE TRIGGER artifacts_gone AFTER DELETE ON artifacts BEGIN
    DELETE FROM bodies WHERE seq = OLD.seq;
    UPDATE counters SET value = value - OLD.cost WHERE name = 'used';
END;
CREATE TRIGGER artifacts_cost_changed AFTER UPDATE OF cost ON artifacts BEGIN
    UPDATE counters SET value = value + NEW.cost - OLD.cost WHERE name = 'used';
END;
CREATE TRIGGER observations_added AFTER INSERT ON observations BEGIN
    UPDATE counters SET value = value + NEW.cost WHERE name = 'used';
END;
CREATE TRIGGER observations_gone AFTER DELETE ON observations BEGIN
    UPDATE counters SET value = value - OLD.cost WHERE name = 'used';
END;
CREATE TRIGGER pins_added AFTER INSERT ON pins BEGIN
    UPDATE counters SET value = value + NEW.cost WHERE name = 'used';
    UPDATE artifacts SET pin_count = pin_count + 1 WHERE sha = NEW.sha;
END;
CREATE TRIGGER pins_gone AFTER DELETE ON pins BEGIN
    UPDATE counters SET value = value - OLD.cost WHERE name = 'used';
    UPDATE artifacts SET pin_count = pin_count - 1 WHERE sha = OLD.sha;
END;
CREATE TRIGGER nodes_added AFTER INSERT ON nodes BEGIN
    UPDATE counters SET value = value + NEW.cost WHERE name = 'used';
END;
CREATE TRIGGER nodes_gone AFTER DELETE ON nodes BEGIN
    UPDATE counters SET value = value - OLD.cost WHERE name = 'used';
END;
CREATE TRIGGER nodes_cost_changed AFTER UPDATE OF cost ON nodes BEGIN
    UPDATE counters SET value = value + NEW.cost - OLD.cost WHERE name = 'used';
END;
