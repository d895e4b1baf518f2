-- The steps by which earlier Reelbooks made the ledger's schema, one for each number, after that of oldest.sql.

-- step 2
DROP TABLE requests;
CREATE TABLE requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL,
    kernel TEXT NOT NULL,
    at REAL NOT NULL,
    answered INTEGER NOT NULL DEFAULT 0,
    told_limit INTEGER
) STRICT;
CREATE INDEX requests_by_time ON requests (account, at);

-- step 3
ALTER TABLE entries ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE entries ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
CREATE INDEX entries_noted ON entries (account, intended_at) WHERE note <> '';
CREATE TABLE tags (
    account INTEGER NOT NULL,
    tag TEXT NOT NULL,
    entry INTEGER NOT NULL,
    PRIMARY KEY (account, tag, entry)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_by_entry ON tags (entry);
CREATE TABLE picks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL,
    at REAL NOT NULL,
    winner INTEGER NOT NULL,
    among TEXT NOT NULL
) STRICT;
CREATE INDEX picks_by_winner ON picks (account, winner);

-- step 4
CREATE TABLE classrooms (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    origin TEXT NOT NULL,
    name TEXT NOT NULL,
    label TEXT NOT NULL,
    folder TEXT NOT NULL,
    address TEXT NOT NULL,
    rate_limit INTEGER NOT NULL,
    max_spend_micro INTEGER NOT NULL,
    before TEXT NOT NULL,
    opened_at REAL NOT NULL,
    closed_at REAL,
    UNIQUE (origin, name)
) STRICT;
CREATE TABLE seats (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    classroom INTEGER NOT NULL,
    student TEXT NOT NULL,
    key_name TEXT NOT NULL,
    file TEXT NOT NULL,
    state TEXT NOT NULL,
    key_id TEXT,
    UNIQUE (classroom, student)
) STRICT;

-- step 5
CREATE TABLE later_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    origin TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    account INTEGER NOT NULL,
    UNIQUE (origin, fingerprint)
) STRICT;

-- step 6
CREATE TABLE tool_calls (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    origin TEXT NOT NULL,
    user TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    whole INTEGER NOT NULL,
    outcome TEXT,
    took_seconds REAL,
    request_ids TEXT NOT NULL DEFAULT '[]',
    error TEXT
) STRICT;

-- step 7
CREATE TABLE tool_jobs (
    account INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    kernel TEXT NOT NULL,
    prompt TEXT NOT NULL,
    called_at REAL NOT NULL,
    answered_at REAL NOT NULL,
    ended_at REAL NOT NULL,
    seconds REAL,
    cost_micro INTEGER NOT NULL,
    PRIMARY KEY (account, request_id)
) STRICT, WITHOUT ROWID;

-- step 8
DROP INDEX entries_unfinished;
CREATE INDEX entries_unfinished ON entries (account, id)
WHERE request_id IS NOT NULL AND clip_path IS NULL AND state <> 'failed';

-- step 9
ALTER TABLE entries ADD COLUMN due_micro INTEGER GENERATED ALWAYS AS (
    CAST(round(50000 * CASE
        WHEN state = 'completed' AND actual_seconds BETWEEN duration_seconds / 2.0
            AND 2 * duration_seconds THEN actual_seconds
        ELSE duration_seconds END) AS INTEGER)
) VIRTUAL;
ALTER TABLE entries ADD COLUMN understated_micro INTEGER GENERATED ALWAYS AS (CASE
    WHEN charge = 'none' OR (state = 'failed' AND cost_micro IS NOT NULL) THEN 0
    WHEN due_micro - price_micro < 5000 THEN 0
    ELSE due_micro - price_micro END
) VIRTUAL;
CREATE INDEX entries_understated ON entries (account, intended_at, understated_micro)
WHERE understated_micro > 0;
ALTER TABLE tool_jobs ADD COLUMN understated_micro INTEGER GENERATED ALWAYS AS (CASE
    WHEN seconds BETWEEN 0 AND 20 AND round(50000 * seconds) - cost_micro >= 5000
    THEN CAST(round(50000 * seconds) AS INTEGER) - cost_micro ELSE 0 END
) VIRTUAL;
ALTER TABLE samples ADD COLUMN complete_to INTEGER;

-- step 10
ALTER TABLE requests ADD COLUMN steady REAL NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN boot TEXT NOT NULL DEFAULT '';

-- step 11
ALTER TABLE entries ADD COLUMN cell_id TEXT;
ALTER TABLE entries ADD COLUMN opening TEXT;
ALTER TABLE entries ADD COLUMN notebook TEXT;
CREATE INDEX entries_by_cell_id ON entries (account, cell_id, nth, sameness)
WHERE cell_id IS NOT NULL;

-- step 12
ALTER TABLE entries ADD COLUMN left_unsent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entries ADD COLUMN repeats INTEGER;
CREATE INDEX entries_left_unsent ON entries (account, sameness) WHERE left_unsent = 1;

-- step 13
ALTER TABLE entries ADD COLUMN took_at_least REAL;
ALTER TABLE entries ADD COLUMN took_at_most REAL;

-- step 14
CREATE TABLE sweeps (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL,
    name TEXT NOT NULL,
    record TEXT NOT NULL,
    sameness TEXT NOT NULL,
    cell TEXT,
    nth INTEGER,
    cell_id TEXT,
    opening TEXT,
    notebook TEXT,
    state TEXT NOT NULL,
    kernel TEXT NOT NULL,
    planned_at REAL NOT NULL,
    began_at REAL NOT NULL,
    ran_seconds REAL NOT NULL DEFAULT 0,
    planned_seconds TEXT NOT NULL
) STRICT;
CREATE INDEX sweeps_by_sameness ON sweeps (account, sameness);
CREATE TABLE sweep_cells (
    sweep INTEGER NOT NULL,
    number INTEGER NOT NULL,
    entry INTEGER,
    found INTEGER NOT NULL DEFAULT 0,
    left_out INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (sweep, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX entries_completed ON entries (account, sameness) WHERE state = 'completed';

-- step 15
DROP INDEX entries_taking;
CREATE INDEX entries_taking ON entries (account, mode, id, duration_seconds, aspect_ratio)
WHERE took_seconds IS NOT NULL;

-- step 16
CREATE TABLE fixed_windows (account INTEGER PRIMARY KEY) STRICT;

-- step 17
ALTER TABLE samples ADD COLUMN asked_at REAL;
CREATE INDEX entries_by_end ON entries (account, ended_at);

-- step 18
DROP INDEX entries_understated;
DROP INDEX entries_by_time;
DROP INDEX entries_by_price;
DROP INDEX entries_by_charge;
DROP INDEX entries_by_state;
ALTER TABLE entries DROP COLUMN understated_micro;
ALTER TABLE entries DROP COLUMN due_micro;
ALTER TABLE entries DROP COLUMN charge;
ALTER TABLE entries DROP COLUMN price_micro;
ALTER TABLE tool_jobs DROP COLUMN understated_micro;
ALTER TABLE samples DROP COLUMN complete_to;
DROP TABLE images;
CREATE INDEX entries_by_time ON entries (account, intended_at);
CREATE INDEX entries_by_price ON entries (account, coalesce(cost_micro, estimated_cost_micro));
CREATE INDEX entries_by_state ON entries (account, state, intended_at, abandoned_at, cost_micro,
estimated_cost_micro, duration_seconds, actual_seconds);
ALTER TABLE entries ADD COLUMN request TEXT;

-- step 19
DROP TABLE fixed_windows;
DROP TABLE requests;
CREATE TABLE requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    of_key TEXT NOT NULL,
    kernel TEXT NOT NULL,
    at REAL NOT NULL,
    steady REAL NOT NULL,
    boot TEXT NOT NULL,
    answered INTEGER NOT NULL DEFAULT 0,
    told_limit INTEGER
) STRICT;
CREATE INDEX requests_by_time ON requests (of_key, at);

-- step 20
DROP INDEX entries_starred;
ALTER TABLE entries DROP COLUMN starred;
ALTER TABLE entries ADD COLUMN picked_at REAL;
CREATE INDEX entries_picked ON entries (account, picked_at) WHERE picked_at IS NOT NULL;
DROP TABLE picks;
CREATE TABLE votes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL,
    at REAL NOT NULL,
    question TEXT NOT NULL,
    shown_left TEXT NOT NULL,
    shown_right TEXT NOT NULL,
    better TEXT,
    voter TEXT NOT NULL
) STRICT;
CREATE INDEX votes_by_question ON votes (account, question);

-- step 21
-- New ledgers had no classrooms and no seats; those that had them kept them.
