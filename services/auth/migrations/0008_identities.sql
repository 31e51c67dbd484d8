-- Identities that are linked to the account of somebody who is signed in, and kinds of sessions.

-- Who began to link, and from which session: when that one has ended, nothing is linked any more. Both are only looked
-- up while the row of the user is held, so nothing has to hold on to them here.
alter table :schema.flow_state
  add column linking_user_id uuid,
  add column linking_session_id uuid,
  add check (linking_user_id is not null or linking_session_id is null);

-- What the provider said of an identity that is linked when the verifier comes, sealed.
alter table :schema.auth_codes
  add column linking text,
  add column linking_session_id uuid,
  add check (linking is not null or linking_session_id is null);

-- What kind of session it is, where a user may have one of each (SESSIONS_TAGS); set by the operator's own SQL.
alter table :schema.sessions add column tag text;
