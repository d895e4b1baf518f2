"""The schema of the sandbox's SQLite file. Who may write what is decided by accounts.py and jobs.py."""

# Appended to, never edited: a home made by an older version is brought up to date at its next start.
MIGRATIONS = (
    """
    CREATE TABLE account (
        only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
        balance_micro INTEGER NOT NULL,
        spent_micro INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE keys (
        key_id TEXT PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        preview TEXT NOT NULL,
        rate_limit INTEGER NOT NULL,
        created_at REAL NOT NULL,
        last_used REAL,
        is_active INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE jobs (
        request_id TEXT PRIMARY KEY,
        state TEXT NOT NULL,
        mode TEXT NOT NULL,
        prompt TEXT NOT NULL,
        duration_seconds INTEGER NOT NULL,
        aspect_ratio TEXT NOT NULL,
        seed TEXT NOT NULL,
        accepted_at REAL NOT NULL,
        planned_seconds REAL NOT NULL,
        failure TEXT,
        video TEXT,
        rendered_seconds REAL,
        rendered_at REAL,
        finished_at REAL,
        cost_micro INTEGER
    ) STRICT;
    CREATE INDEX jobs_by_state ON jobs (state);
    CREATE INDEX jobs_by_accepted_at ON jobs (accepted_at);
    """,
    """
    CREATE TABLE history (
        at REAL NOT NULL,
        seconds REAL NOT NULL,
        requests INTEGER NOT NULL,
        cost_micro INTEGER NOT NULL
    ) STRICT;
    """,
    # What was asked for is one JSON object, so that a new field of a request needs no column.
    """
    ALTER TABLE jobs ADD COLUMN request TEXT NOT NULL DEFAULT '{}';
    UPDATE jobs SET request = json_object('prompt', prompt, 'duration_seconds', duration_seconds,
        'aspect_ratio', aspect_ratio, 'seed', json(seed));
    ALTER TABLE jobs DROP COLUMN prompt;
    ALTER TABLE jobs DROP COLUMN duration_seconds;
    ALTER TABLE jobs DROP COLUMN aspect_ratio;
    ALTER TABLE jobs DROP COLUMN seed;
    DROP INDEX jobs_by_state;
    CREATE INDEX jobs_under_way ON jobs (finished_at) WHERE finished_at IS NULL;
    """,
    "ALTER TABLE jobs ADD COLUMN key_id TEXT NOT NULL DEFAULT '';",
)
