-- Second factors: what somebody has besides what signs them in.

create table :schema.mfa_factors (
  id uuid primary key,
  user_id uuid not null references :schema.users on delete cascade,
  factor_type text not null check (factor_type in ('totp', 'phone', 'webauthn', 'recovery_code')),
  status text not null check (status in ('unverified', 'verified')),
  friendly_name text,
  phone text,
  -- The key of a TOTP factor, sealed.
  secret text,
  -- The time step whose code was accepted last: neither that one nor an earlier one is again.
  last_used_step bigint,
  -- How many wrong codes are not forgotten yet, as of the last one, and until when no code is looked at.
  wrong_codes double precision not null default 0,
  wrong_code_at timestamptz,
  locked_until timestamptz,
  last_challenged_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index mfa_factors_user_id on :schema.mfa_factors (user_id);
create unique index mfa_factors_friendly_name on :schema.mfa_factors (user_id, friendly_name) where friendly_name <> '';
create index mfa_factors_unverified on :schema.mfa_factors (created_at) where status = 'unverified';

-- A challenge belongs to the session it was asked for by, and is gone once it was answered right.
create table :schema.mfa_challenges (
  id uuid primary key,
  factor_id uuid not null references :schema.mfa_factors on delete cascade,
  session_id uuid not null references :schema.sessions on delete cascade,
  ip_address inet,
  -- Keyed hash of the code that was sent.
  otp_code text,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index mfa_challenges_factor_id on :schema.mfa_challenges (factor_id);
create index mfa_challenges_session_id on :schema.mfa_challenges (session_id);
create index mfa_challenges_expires_at on :schema.mfa_challenges (expires_at);

-- Keyed hashes. A code that was used stays, so that it is told how many there were.
create table :schema.mfa_recovery_codes (
  factor_id uuid not null references :schema.mfa_factors on delete cascade,
  code_hash text not null,
  used_at timestamptz,
  created_at timestamptz not null,
  primary key (factor_id, code_hash)
);

-- Which factor raised a session: it falls back with that one.
alter table :schema.sessions add column factor_id uuid references :schema.mfa_factors on delete set null;
create index sessions_factor_id on :schema.sessions (factor_id) where factor_id is not null;

-- What answers show of the factors lies with the user: every statement that reads a user has it at no further cost, and
-- whoever holds the user's row sees all factors as they are. Only the trigger below writes it.
alter table :schema.users
  add column factors jsonb not null default '[]',
  add column mfa_wrong_codes double precision not null default 0,
  add column mfa_wrong_code_at timestamptz,
  add column mfa_locked_until timestamptz;

create function :schema.show_factors() returns trigger language plpgsql as $$
begin
  update :schema.users set factors = (
    select coalesce(jsonb_agg(jsonb_build_object('id', f.id, 'factor_type', f.factor_type, 'status', f.status,
        'friendly_name', f.friendly_name, 'phone', f.phone, 'last_challenged_at', f.last_challenged_at,
        'created_at', f.created_at, 'updated_at', f.updated_at) order by f.created_at, f.id), '[]')
    from :schema.mfa_factors f where f.user_id = coalesce(new.user_id, old.user_id))
  where id = coalesce(new.user_id, old.user_id);
  return null;
end
$$;
create trigger show_factors after insert or delete
  or update of factor_type, status, friendly_name, phone, last_challenged_at, updated_at on :schema.mfa_factors
  for each row execute function :schema.show_factors();

-- Ends the sessions of a user that no second factor raised, but the one that is being raised. Like end_sessions it looks
-- anew, and its caller holds the user's row.
create function :schema.end_lower_sessions(owner uuid, kept uuid) returns bigint language plpgsql as $$
declare
  ended bigint;
begin
  perform from :schema.refresh_tokens t join :schema.sessions s on s.id = t.session_id
    where s.user_id = owner and s.aal = 'aal1' and s.id <> kept order by t.session_id for update of t;
  delete from :schema.sessions s where s.user_id = owner and s.aal = 'aal1' and s.id <> kept;
  get diagnostics ended = row_count;
  return ended;
end
$$;
revoke all on function :schema.end_lower_sessions(uuid, uuid), :schema.show_factors() from public;

alter table :schema.mfa_factors enable row level security;
alter table :schema.mfa_challenges enable row level security;
alter table :schema.mfa_recovery_codes enable row level security;
