-- Names and types follow GoTrue's schema where they can, so that policies and joins written for it keep working.
-- What differs: secrets are never stored in clear (see DESIGN.md), and refresh_tokens holds one row per family.

-- Roles belong to the whole server: another database's service may have made them, or this user may not.
do $$
declare
  wanted text;
begin
  foreach wanted in array array['anon', 'authenticated', 'service_role'] loop
    begin
      if not exists (select from pg_roles where rolname = wanted) then
        execute format('create role %I nologin noinherit', wanted);
        if wanted = 'service_role' then
          execute format('alter role %I bypassrls', wanted);
        end if;
      end if;
    exception
      when insufficient_privilege or duplicate_object or unique_violation then
        raise notice 'role % was not created: %', wanted, sqlerrm;
    end;
  end loop;
end
$$;

create table :schema.users (
  id uuid primary key,
  aud text not null default '',
  role text not null default '',
  email varchar(255),
  encrypted_password text,
  email_confirmed_at timestamptz,
  invited_at timestamptz,
  confirmation_sent_at timestamptz,
  recovery_sent_at timestamptz,
  email_change text,
  email_change_sent_at timestamptz,
  phone text unique,
  phone_confirmed_at timestamptz,
  phone_change text,
  phone_change_sent_at timestamptz,
  confirmed_at timestamptz generated always as (least(email_confirmed_at, phone_confirmed_at)) stored,
  reauthentication_sent_at timestamptz,
  last_sign_in_at timestamptz,
  raw_app_meta_data jsonb not null default '{}',
  raw_user_meta_data jsonb not null default '{}',
  banned_until timestamptz,
  is_sso_user boolean not null default false,
  is_anonymous boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);
create unique index users_email_key on :schema.users (email) where is_sso_user = false;

create table :schema.identities (
  id uuid primary key default gen_random_uuid(),
  provider_id text not null,
  user_id uuid not null references :schema.users on delete cascade,
  identity_data jsonb not null,
  provider text not null,
  email text generated always as (lower(identity_data ->> 'email')) stored,
  last_sign_in_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (provider_id, provider)
);
create index identities_user_id on :schema.identities (user_id);

create table :schema.sessions (
  id uuid primary key,
  user_id uuid not null references :schema.users on delete cascade,
  aal text not null default 'aal1' check (aal in ('aal1', 'aal2', 'aal3')),
  not_after timestamptz,
  user_agent text,
  ip inet,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index sessions_user_id on :schema.sessions (user_id, created_at);

-- One row per family, changed in place: the row is what concurrent refreshes queue on, and the table does not grow
-- with use. The fill factor leaves room for the next version on the same page, so no index is touched.
create table :schema.refresh_tokens (
  session_id uuid primary key references :schema.sessions on delete cascade,
  token_hash bytea not null,
  parent_hash bytea,
  counter integer not null,
  rotated_at timestamptz not null,
  revoked_at timestamptz
) with (fillfactor = 50);

create table :schema.mfa_amr_claims (
  id uuid primary key default gen_random_uuid(),
  session_id uuid not null references :schema.sessions on delete cascade,
  authentication_method text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (session_id, authentication_method)
);

create type :schema.one_time_token_type as enum (
  'confirmation_token', 'reauthentication_token', 'recovery_token',
  'email_change_token_new', 'email_change_token_current', 'phone_change_token'
);

-- token_hash is keyed with a secret that is not in the database: six digits alone could be tried out from a copy.
create table :schema.one_time_tokens (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references :schema.users on delete cascade,
  token_type :schema.one_time_token_type not null,
  token_hash text not null unique,
  relates_to text not null,
  wrong_guesses integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (user_id, token_type)
);

create table :schema.audit_log_entries (
  id uuid primary key default gen_random_uuid(),
  payload json not null,
  ip_address varchar(64) not null default '',
  created_at timestamptz not null
);
-- Rows arrive in the order of time, so a block range index finds a period at next to no cost for the writers.
create index audit_log_entries_created_at on :schema.audit_log_entries using brin (created_at);

-- What row-level security policies call; PostgREST sets request.jwt.claims.
create function :schema.jwt() returns jsonb language sql stable as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')
  )::jsonb
$$;
create function :schema.uid() returns uuid language sql stable as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.sub', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub'
  )::uuid
$$;
create function :schema.role() returns text language sql stable as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.role', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'role'
  )
$$;
create function :schema.email() returns text language sql stable as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.email', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'email'
  )
$$;

-- Policies run as these roles; without usage they could not call the functions above. Tables stay closed to them.
do $$
declare
  reader text;
begin
  foreach reader in array array['anon', 'authenticated', 'service_role'] loop
    if exists (select from pg_roles where rolname = reader) then
      execute format('grant usage on schema :schema to %I', reader);
    end if;
  end loop;
end
$$;

alter table :schema.users enable row level security;
alter table :schema.identities enable row level security;
alter table :schema.sessions enable row level security;
alter table :schema.refresh_tokens enable row level security;
alter table :schema.mfa_amr_claims enable row level security;
alter table :schema.one_time_tokens enable row level security;
alter table :schema.audit_log_entries enable row level security;
alter table :schema.outbox enable row level security;
alter table :schema.croft_migrations enable row level security;
