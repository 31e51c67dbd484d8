-- Teams are for members of their organization, whoever else may read its repositories; a private one is known to its own
-- members and to the owners only. `sees_all` are site administrators.
create or replace function :schema.may_know_team(person bigint, sees_all boolean, team :schema.teams) returns boolean
  language sql stable
as $$
  select sees_all or exists (
    select from :schema.team_members m join :schema.teams t on t.id = m.team_id
    where m.user_id = person and t.organization_id = team.organization_id
      and (team.visibility <> 'private' or t.id = team.id or t.level = 4))
$$;

-- Names that somebody took lead to nobody else any more, also when he is gone.
delete from :schema.former_logins f using :schema.users u where u.login_key = f.login_key;

-- When the auth service said what the address and the full name are, so that nothing older takes their place.
alter table :schema.users add column shown_at timestamptz;
