-- What was taken over from GoTrue (`croft auth import`).

-- Every user, identity, factor and session that was, by its id. What was taken over once is not again: neither an account
-- that was deleted here since nor a session that was ended here comes back when the import runs another time. Scripts give
-- an identity the id of its user, so an id alone tells no row from another.
create table :schema.imported_rows (
  id uuid not null,
  kind text not null check (kind in ('user', 'identity', 'factor', 'session')),
  primary key (id, kind)
);

-- Refresh tokens of sessions that were opened there, as keyed hashes. The token that is live is the active one of its
-- family (whose counter is -1 until it comes), so it is rotated as any other; the others tell of their reuse.
create table :schema.imported_refresh_tokens (
  token_hash bytea primary key,
  session_id uuid not null references :schema.sessions on delete cascade,
  -- Its place among the tokens of its session: of several that are live the last one counts.
  position bigint not null,
  is_live boolean not null
);
create index imported_refresh_tokens_session_id on :schema.imported_refresh_tokens (session_id);

alter table :schema.imported_rows enable row level security;
alter table :schema.imported_refresh_tokens enable row level security;
