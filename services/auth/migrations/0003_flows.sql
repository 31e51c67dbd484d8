-- What recovery, invitations, changes of address, external providers, limits and administration need.

alter table :schema.users add column email_change_confirm_status smallint not null default 0
  check (email_change_confirm_status between 0 and 2);
-- Whether an administrator made the account: what they gave it does not go by a stranger's sign-up with its address.
alter table :schema.users add column given_by_admin boolean not null default false;
-- send_limits takes its place: it knows addresses nobody has as well.
alter table :schema.users drop column signup_answered_at;
create index users_created_at on :schema.users (created_at desc, id);

-- A link is random of its own, the code is the short one: whoever guesses at codes is counted, and what is spent by
-- guessing still leaves the link. pending_* is what the sign-up brought that asked for this very code.
alter table :schema.one_time_tokens
  alter column token_type type text using token_type::text,
  drop constraint one_time_tokens_token_hash_key,
  add column link_hash text unique,
  add column expires_at timestamptz,
  add column pending_password text,
  add column pending_data jsonb;
update :schema.one_time_tokens set expires_at = created_at + interval '1 day';
alter table :schema.one_time_tokens alter column expires_at set not null;
drop type :schema.one_time_token_type;
alter table :schema.one_time_tokens add check (token_type in ('confirmation_token', 'recovery_token',
  'email_change_token_new', 'email_change_token_current', 'phone_token', 'phone_change_token',
  'reauthentication_token'));
create index one_time_tokens_relates_to on :schema.one_time_tokens (relates_to);
create index one_time_tokens_expires_at on :schema.one_time_tokens (expires_at)
  where pending_password is null and pending_data is null;

create index refresh_tokens_revoked_at on :schema.refresh_tokens (revoked_at) where revoked_at is not null;
create index sessions_not_after on :schema.sessions (not_after) where not_after is not null;
create index identities_email on :schema.identities (email);

-- When something was last sent to an address, or would have been: keyed hashes, the same for addresses somebody has
-- and addresses nobody has. What a crash forgets costs one more mail, so nothing is written ahead.
create unlogged table :schema.send_limits (
  key bytea primary key,
  sent_at timestamptz not null
);
create index send_limits_sent_at on :schema.send_limits (sent_at);
create unlogged table :schema.rate_limits (
  key bytea primary key,
  tokens double precision not null,
  refilled_at timestamptz not null
);

-- A sign-in with an external provider that is under way; the secrets of its state are kept as hashes.
create table :schema.flow_state (
  id uuid primary key,
  state_hash bytea not null unique,
  browser_hash bytea,
  provider text not null,
  redirect_to text not null,
  sealed text,
  invite_token_hash text,
  created_at timestamptz not null
);
create index flow_state_created_at on :schema.flow_state (created_at);

-- Finds a part of an address among a million. Without the extension the search still works, slowly.
do $$
begin
  create extension if not exists pg_trgm;
exception
  -- Not installed, not permitted, or made by somebody else at this moment.
  when insufficient_privilege or undefined_file or feature_not_supported or duplicate_object or unique_violation then
    raise notice 'pg_trgm was not created: %', sqlerrm;
end
$$;
do $$
declare
  home text;
begin
  select n.nspname into home from pg_extension e join pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'pg_trgm';
  if home is not null then
    execute format('create index users_email_trgm on :schema.users using gin (email %I.gin_trgm_ops)', home);
  end if;
end
$$;

alter table :schema.send_limits enable row level security;
alter table :schema.rate_limits enable row level security;
alter table :schema.flow_state enable row level security;
