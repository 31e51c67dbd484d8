-- One account for each user of the auth service, made at the first authenticated call.
create table :schema.users (
  id bigint generated always as identity primary key,
  auth_user_id uuid not null,
  login text not null,
  -- Names are unique whatever their case.
  login_key text not null generated always as (lower(login)) stored,
  full_name text not null default '',
  email text not null default '',
  is_admin boolean not null default false,
  created_at timestamptz not null,
  constraint users_auth_user_id_key unique (auth_user_id),
  constraint users_login_key_key unique (login_key)
);

-- Personal access tokens: 160 random bits each, so a plain SHA-256 at rest cannot be guessed back.
create table :schema.access_tokens (
  id bigint generated always as identity primary key,
  user_id bigint not null references :schema.users on delete cascade,
  name text not null,
  token_hash bytea not null,
  last_eight text not null,
  scopes text[] not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  constraint access_tokens_token_hash_key unique (token_hash),
  constraint access_tokens_name_key unique (user_id, name)
);
