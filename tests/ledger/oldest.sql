BEGIN TRANSACTION;
CREATE TABLE accounts (
            id INTEGER PRIMARY KEY,
            origin TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            UNIQUE (origin, fingerprint)
        ) STRICT
        ;
INSERT INTO "accounts" VALUES(1,'https://service.example:443','da71326333a9922a');
CREATE TABLE entries (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            account INTEGER NOT NULL,
            state TEXT NOT NULL,
            mode TEXT NOT NULL,
            prompt TEXT NOT NULL,
            duration_seconds INTEGER NOT NULL,
            aspect_ratio TEXT,
            seed TEXT,
            image_digest TEXT,
            sameness TEXT NOT NULL,
            experiment TEXT,
            cell TEXT,
            nth INTEGER,
            kernel TEXT NOT NULL,
            resumed INTEGER NOT NULL DEFAULT 0,
            intended_at REAL NOT NULL,
            sent_at REAL,
            accepted_at REAL,
            ended_at REAL,
            downloaded_at REAL,
            abandoned_at REAL,
            request_id TEXT,
            estimated_cost_micro INTEGER NOT NULL,
            cost_micro INTEGER,
            estimated_duration_seconds REAL,
            actual_seconds REAL,
            took_seconds REAL,
            progress REAL,
            video_url TEXT,
            clip_path TEXT,
            error TEXT,
            starred INTEGER NOT NULL DEFAULT 0,
            price_micro INTEGER GENERATED ALWAYS AS (coalesce(cost_micro, estimated_cost_micro)) VIRTUAL,
            charge TEXT GENERATED ALWAYS AS (CASE
                WHEN state IN ('refused', 'cancelled', 'not accepted') THEN 'none'
                WHEN cost_micro IS NOT NULL OR state IN ('completed', 'lost') THEN 'spent'
                WHEN abandoned_at IS NOT NULL OR state IN ('uncertain', 'failed') THEN 'uncertain'
                ELSE 'reserved' END) VIRTUAL
        ) STRICT
        ;
INSERT INTO "entries" VALUES(1,1,'completed','text-to-video','a red fox runs through snow',5,'16:9','7',NULL,'291e8b53c098b149a859966038647792','winter','cell',1,'1-oldest',0,1800000000.0,1800000000.0,1800000000.0,1800000060.0,1800000060.0,NULL,'req-1',250000,252000,40.0,5.04,60.0,100.0,'https://cdn.example/1.mp4','clips/req-1.mp4',NULL,1);
INSERT INTO "entries" VALUES(2,1,'uncertain','text-to-video','a wolf',5,'16:9','1180591620717411303424',NULL,'ed9dc59fb3d31ec2ef9d9bfa13f2c893',NULL,NULL,NULL,'1-oldest',0,1800000060.0,1800000060.0,NULL,1800000060.0,NULL,NULL,NULL,250000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'no answer',0);
INSERT INTO "entries" VALUES(3,1,'pending','image-to-video','a still image',5,NULL,NULL,'d1','e7aeacf4058ee3eb5020e6696c703e70',NULL,NULL,NULL,'1-oldest',0,1800000060.0,1800000060.0,1800000060.0,NULL,NULL,NULL,'req-2',250000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
CREATE TABLE images (digest TEXT PRIMARY KEY, thumbnail BLOB NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO "images" VALUES('d1',X'6A706567');
CREATE TABLE migrations (number INTEGER PRIMARY KEY, applied_at REAL NOT NULL) STRICT;
INSERT INTO "migrations" VALUES(1,1800000000.0);
CREATE TABLE requests (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            account INTEGER NOT NULL,
            at REAL NOT NULL,
            purpose TEXT NOT NULL
        ) STRICT
        ;
INSERT INTO "requests" VALUES(1,1,1800000060.0,'submit');
CREATE TABLE salt (only_one INTEGER PRIMARY KEY CHECK (only_one = 1), salt BLOB NOT NULL) STRICT;
INSERT INTO "salt" VALUES(1,X'FE5E4303C1CEF15BBE729B848C3A574E8A90CACA58BBB45A99981F3B2AC1260B');
CREATE TABLE samples (
            id INTEGER PRIMARY KEY,
            account INTEGER NOT NULL,
            at REAL NOT NULL,
            balance_micro INTEGER,
            total_spent_micro INTEGER,
            total_requests REAL,
            total_seconds REAL,
            total_cost_micro INTEGER,
            period_days REAL
        ) STRICT
        ;
INSERT INTO "samples" VALUES(1,1,1800000000.0,9500000,500000,NULL,NULL,NULL,NULL);
CREATE INDEX entries_by_time ON entries (account, intended_at, price_micro);
CREATE INDEX entries_by_price ON entries (account, price_micro);
CREATE INDEX entries_by_state ON entries (account, state, intended_at);
CREATE INDEX entries_by_charge ON entries (account, charge, intended_at, price_micro);
CREATE INDEX entries_by_request ON entries (request_id, account) WHERE request_id IS NOT NULL;
CREATE INDEX entries_by_experiment ON entries (account, experiment, intended_at)
        WHERE experiment IS NOT NULL
        ;
CREATE INDEX entries_starred ON entries (account, intended_at) WHERE starred = 1;
CREATE INDEX entries_by_place ON entries (account, cell, nth, sameness) WHERE cell IS NOT NULL;
CREATE INDEX entries_unfinished ON entries (account, id)
        WHERE request_id IS NOT NULL AND clip_path IS NULL AND abandoned_at IS NULL AND state <> 'failed'
        ;
CREATE INDEX entries_unsent ON entries (kernel, state) WHERE state IN ('intended', 'sending');
CREATE INDEX entries_taking
        ON entries (account, mode, ended_at, duration_seconds, aspect_ratio, took_seconds)
        WHERE took_seconds IS NOT NULL
        ;
CREATE INDEX samples_by_time ON samples (account, at);
CREATE INDEX requests_by_time ON requests (account, at);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('entries',3);
INSERT INTO "sqlite_sequence" VALUES('requests',1);
COMMIT;
