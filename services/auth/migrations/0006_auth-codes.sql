-- Links and sign-ins that only their asker can use (PKCE, RFC 7636).

-- What the verifier of whoever asked has to fit. The link then ends in a code instead of a session.
alter table :schema.one_time_tokens
  add column code_challenge text,
  add column code_challenge_method text check (code_challenge_method in ('s256', 'plain')),
  add check ((code_challenge is null) = (code_challenge_method is null));
alter table :schema.flow_state
  add column code_challenge text,
  add column code_challenge_method text check (code_challenge_method in ('s256', 'plain')),
  add check ((code_challenge is null) = (code_challenge_method is null));

-- A sign-in that was proven and waits for its verifier.
create table :schema.auth_codes (
  id uuid primary key,
  code_hash bytea not null unique,
  user_id uuid not null references :schema.users (id) on delete cascade,
  authentication_method text not null,
  code_challenge text not null,
  code_challenge_method text not null check (code_challenge_method in ('s256', 'plain')),
  -- Tokens of the external provider, if there was one.
  sealed text,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index auth_codes_user_id on :schema.auth_codes (user_id);
create index auth_codes_expires_at on :schema.auth_codes (expires_at);
alter table :schema.auth_codes enable row level security;

-- Who ends all sessions of a user, or all but one, ends those that were about to begin as well; the one may be such a one.
create or replace function :schema.end_sessions(owner uuid, only_one uuid, kept uuid) returns bigint language plpgsql as $$
declare
  ended bigint;
begin
  perform from :schema.refresh_tokens t join :schema.sessions s on s.id = t.session_id
    where s.user_id = owner and (only_one is null or s.id = only_one) and (kept is null or s.id <> kept)
    order by t.session_id for update of t;
  delete from :schema.sessions s
    where s.user_id = owner and (only_one is null or s.id = only_one) and (kept is null or s.id <> kept);
  get diagnostics ended = row_count;
  if only_one is null then
    delete from :schema.auth_codes where user_id = owner and (kept is null or id <> kept);
  end if;
  return ended;
end
$$;
