-- What the proof of a second factor takes the place of, and what it ends.

-- The active refresh token of a family and its parent as they were then. For a short time whoever presents one was merely
-- late, afterwards it is reuse.
alter table :schema.refresh_tokens
  add column replaced_hashes bytea[],
  add column replaced_at timestamptz;

-- The first one ends what its user began to link without it.
create index flow_state_linking_user_id on :schema.flow_state (linking_user_id) where linking_user_id is not null;
