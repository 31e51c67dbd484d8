-- Changes of address and number that end, resent codes that tell one sign-up from several, and sessions that end whole.

-- When a change was begun; sending its codes once more does not move it.
alter table :schema.users
  add column email_change_begun_at timestamptz,
  add column phone_change_begun_at timestamptz;
update :schema.users set
  email_change_begun_at = case when email_change is not null then coalesce(email_change_sent_at, updated_at) end,
  phone_change_begun_at = case when phone_change is not null then coalesce(phone_change_sent_at, updated_at) end
where email_change is not null or phone_change is not null;

-- Whether sign-ups with different passwords waited for the address; it stays as long as the row does.
alter table :schema.one_time_tokens add column is_contested boolean not null default false;
update :schema.one_time_tokens t set is_contested = true
from :schema.users u where u.id = t.user_id and t.pending_data is not null
  and t.pending_password is distinct from u.encrypted_password;

-- Ends sessions of a user: all, one, or all but one. A function looks anew when it is called, so a session that was
-- opened while its caller waited for the user's row ends as well; the statement around it could not see that one. The
-- caller holds the user's row. Refresh tokens are locked first, as a rotation does it, and in one order.
create function :schema.end_sessions(owner uuid, only_one uuid, kept uuid) returns bigint language plpgsql as $$
declare
  ended bigint;
begin
  perform from :schema.refresh_tokens t join :schema.sessions s on s.id = t.session_id
    where s.user_id = owner and (only_one is null or s.id = only_one) and (kept is null or s.id <> kept)
    order by t.session_id for update of t;
  delete from :schema.sessions s
    where s.user_id = owner and (only_one is null or s.id = only_one) and (kept is null or s.id <> kept);
  get diagnostics ended = row_count;
  return ended;
end
$$;
revoke all on function :schema.end_sessions(uuid, uuid, uuid) from public;
