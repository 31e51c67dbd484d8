-- Programs to which people sign in with their account here (OAuth 2.0, RFC 6749).
create table :schema.oauth_applications (
  id bigint generated always as identity primary key,
  -- Null for those that every forge knows, which get their row when somebody first signs in to them.
  user_id bigint references :schema.users on delete cascade,
  name text not null,
  client_id uuid not null,
  -- Of 256 random bits, so a plain SHA-256 cannot be guessed back; null where there is no secret.
  secret_hash bytea,
  is_confidential boolean not null,
  skips_consent boolean not null,
  redirect_uris text[] not null,
  created_at timestamptz not null,
  constraint oauth_applications_client_id_key unique (client_id)
);
create index oauth_applications_user_id on :schema.oauth_applications (user_id);

-- What a person allowed a program, until one of the two takes it back.
create table :schema.oauth_grants (
  id bigint generated always as identity primary key,
  application_id bigint not null references :schema.oauth_applications on delete cascade,
  user_id bigint not null references :schema.users on delete cascade,
  -- Of the last time.
  scopes text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint oauth_grants_application_id_key unique (application_id, user_id)
);
create index oauth_grants_user_id on :schema.oauth_grants (user_id);

create table :schema.oauth_codes (
  code_hash bytea primary key,
  grant_id bigint not null references :schema.oauth_grants on delete cascade,
  scopes text[] not null,
  -- As the program gave it; null when it left it out.
  redirect_uri text,
  -- What a verifier is held against (RFC 7636), and how: `plain` or `S256`.
  challenge text,
  challenge_method text,
  -- Of the tokens that are made for it, so that they can be taken back together.
  family uuid not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index oauth_codes_grant_id on :schema.oauth_codes (grant_id);
create index oauth_codes_expires_at on :schema.oauth_codes (expires_at);

-- An access token and the refresh token that came with it.
create table :schema.oauth_tokens (
  id bigint generated always as identity primary key,
  grant_id bigint not null references :schema.oauth_grants on delete cascade,
  scopes text[] not null,
  family uuid not null,
  access_hash bytea not null,
  access_expires_at timestamptz not null,
  refresh_hash bytea not null,
  refresh_expires_at timestamptz not null,
  -- When others were made for the refresh token.
  refreshed_at timestamptz,
  constraint oauth_tokens_access_hash_key unique (access_hash),
  constraint oauth_tokens_refresh_hash_key unique (refresh_hash)
);
create index oauth_tokens_grant_id on :schema.oauth_tokens (grant_id);
create index oauth_tokens_family on :schema.oauth_tokens (family);
create index oauth_tokens_refresh_expires_at on :schema.oauth_tokens (refresh_expires_at);
