-- Sign-ins whose password was right and that wait for the code of a second factor. The page has the name and the password, sealed with a key
-- that is here alone: without the row they cannot be read, and it goes with its first use.
create table :schema.oauth_steps (
  id uuid primary key,
  key bytea not null,
  expires_at timestamptz not null
);
create index oauth_steps_expires_at on :schema.oauth_steps (expires_at);
