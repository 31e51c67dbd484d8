-- What a user was taken over as, so that a later run can tell who was changed there since. Users that were taken over before
-- there were digests have none, and count as changed.
alter table :schema.imported_rows add column digest bytea;

-- When a run began that saw the row there, of users and sessions: a session that a later run does not see was ended.
alter table :schema.imported_rows add column seen_at timestamptz;
