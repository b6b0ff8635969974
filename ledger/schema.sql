-- Schema 1. Numbers of turns. No column holds a text of a request.

CREATE TABLE meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE sessions (
    seq      INTEGER PRIMARY KEY,
    engine   TEXT    NOT NULL,
    chain    TEXT    NOT NULL,                  -- the session chain's name
    prompt   TEXT,                              -- salted fingerprint of the first words, NULL unknown
    first_at INTEGER NOT NULL,                  -- milliseconds since 1970
    last_at  INTEGER NOT NULL,
    UNIQUE (engine, chain)
);

-- The arm of a chain in an experiment, written before its first request.
CREATE TABLE arms (
    experiment TEXT    NOT NULL,
    chain      TEXT    NOT NULL,
    arm        TEXT    NOT NULL,
    bucket     INTEGER NOT NULL,                -- 0 to 99
    at         INTEGER NOT NULL,
    PRIMARY KEY (experiment, chain)
) WITHOUT ROWID;

-- One row a turn. turn is NULL when none was ever issued (refused at the door).
CREATE TABLE turns (
    seq          INTEGER PRIMARY KEY,
    session      INTEGER NOT NULL REFERENCES sessions (seq),
    generation   INTEGER NOT NULL,
    turn         INTEGER,
    attempt      INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    mode         TEXT    NOT NULL,
    model        TEXT    NOT NULL,
    provider     TEXT    NOT NULL,
    edited       INTEGER NOT NULL,
    reason       TEXT    NOT NULL,
    fail_open    INTEGER NOT NULL,              -- passed because something of ours failed
    micros       INTEGER NOT NULL,
    bytes        INTEGER NOT NULL,              -- of the request as it came
    sent_bytes   INTEGER,
    measure      TEXT,                          -- exact, panel, NULL not measured
    label        TEXT,                          -- what measured
    raw          INTEGER,                       -- tokens of the whole request
    final        INTEGER,
    ite          REAL,                          -- saved, estimated; may be negative
    price_row    TEXT,
    assumed      INTEGER NOT NULL,
    epoch        TEXT,                          -- cold, warm, window
    epoch_reason TEXT,
    use_fresh    INTEGER,                       -- reported by the provider
    use_read     INTEGER,
    use_write    INTEGER,
    use_output   INTEGER,
    UNIQUE (session, generation, turn)
);
CREATE INDEX turns_at ON turns (at);

CREATE TABLE turn_forms (
    turn   INTEGER NOT NULL REFERENCES turns (seq) ON DELETE CASCADE,
    form   TEXT    NOT NULL,
    fresh  INTEGER NOT NULL,                    -- 1: decided in this turn
    n      INTEGER NOT NULL,
    before INTEGER NOT NULL,                    -- tokens
    after  INTEGER NOT NULL,
    PRIMARY KEY (turn, form, fresh)
) WITHOUT ROWID;

CREATE TABLE turn_reasons (
    turn   INTEGER NOT NULL REFERENCES turns (seq) ON DELETE CASCADE,
    reason TEXT    NOT NULL,                    -- why a block stayed or changed
    n      INTEGER NOT NULL,
    PRIMARY KEY (turn, reason)
) WITHOUT ROWID;

-- What costs something outside a turn: a fetched original, a request the host sent
-- whole because no answer came.
CREATE TABLE events (
    seq     INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (seq),
    at      INTEGER NOT NULL,
    kind    TEXT    NOT NULL,                   -- recovery, fail_open
    reason  TEXT    NOT NULL,
    tokens  INTEGER,
    ite     REAL                                -- what it cost
);
CREATE INDEX events_at ON events (at);
