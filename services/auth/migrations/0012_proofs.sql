-- What the proof of a second factor takes the place of, and what it ends.

-- The active refresh token of a family and its parent as they were then. For a short time whoever presents one was merely
-- late, afterwards it is reuse.
alter table :schema.refresh_tokens
  add column replaced_hashes bytea[],
  add column replaced_at timestamptz;

-- The first one ends what its user began to link without it.
create index flow_state_linking_user_id on :schema.flow_state (linking_user_id) where linking_user_id is not null;

-- Takes the second factor from the sessions that one raised, or from all of a user. Like end_sessions it looks anew, and its caller
-- holds the user's row: a session that was raised just before is among them.
create function :schema.lower_sessions(owner uuid, raised_by uuid, methods text[], at timestamptz) returns bigint language plpgsql as $$
declare
  lowered uuid[];
begin
  with changed as (
    update :schema.sessions s set aal = 'aal1', factor_id = null, updated_at = at
    where s.user_id = owner and s.aal <> 'aal1' and (raised_by is null or s.factor_id = raised_by)
    returning s.id)
  select coalesce(array_agg(id), '{}') into lowered from changed;
  delete from :schema.mfa_amr_claims c where c.session_id = any (lowered) and c.authentication_method = any (methods);
  return cardinality(lowered);
end
$$;
revoke all on function :schema.lower_sessions(uuid, uuid, text[], timestamptz) from public;
