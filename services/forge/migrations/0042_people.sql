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

-- Who lost his access while nobody took him off was assigned and watching, and could do nothing about it.
with involved as (
  select w.user_id, w.repository_id from :schema.watches w
  union select a.user_id, i.repository_id from :schema.issue_assignees a join :schema.issues i on i.id = a.issue_id
), lost as materialized (
  select x.user_id, x.repository_id from involved x join :schema.users u on u.id = x.user_id
    join :schema.repositories r on r.id = x.repository_id join :schema.users o on o.id = r.owner_id
  where not u.is_admin and (r.private or (o.visibility = 'private' and not :schema.is_member(u.id, o.id)))
    and not exists (select from :schema.grants g where g.user_id = u.id and g.repository_id = r.id
      and greatest(g.level, g.code, g.issues, g.pulls) >= 1)
), unwatched as (
  delete from :schema.watches w using lost l where w.user_id = l.user_id and w.repository_id = l.repository_id
)
delete from :schema.issue_assignees a using lost l, :schema.issues i
where i.repository_id = l.repository_id and a.issue_id = i.id and a.user_id = l.user_id;
