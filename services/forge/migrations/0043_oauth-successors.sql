alter table :schema.oauth_tokens
  -- Those whose refresh token they were made for, which may be gone; null when they were made for a code.
  add column parent_id bigint,
  -- When the access token was used first.
  add column used_at timestamptz,
  -- Others took their place before anybody used them: who comes with them now has what was thought to be lost.
  add column is_replaced boolean not null default false,
  -- Of the access token, when a program asked for less than it may have; null for `scopes`.
  add column access_scopes text[];
create index oauth_tokens_parent_id on :schema.oauth_tokens (parent_id);

-- What somebody allows is what his sign-ins have, each of its own.
alter table :schema.oauth_grants drop column scopes;
