-- What a push is about to do and in whose name, so that the next start can still say it after a crash:
-- {"moves": [{"ref", "before", "after"}], "renamed": {"from", "to"}?}.
alter table :schema.pushes
  add column actor_id bigint references :schema.users on delete set null,
  add column details jsonb not null default '{"moves": []}';
