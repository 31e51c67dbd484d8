alter table :schema.teams
  -- A private team is known to its members and to the owners only, others to everybody in the organization.
  add column visibility text not null default 'limited' check (visibility in ('public', 'limited', 'private'));

-- Whether a team may be known to somebody who may know of its organization's teams. `sees_all` are site administrators.
create function :schema.may_know_team(person bigint, sees_all boolean, team :schema.teams) returns boolean
  language sql stable
as $$
  select team.visibility <> 'private' or sees_all or exists (
    select from :schema.team_members m join :schema.teams t on t.id = m.team_id
    where m.user_id = person and (t.id = team.id or (t.organization_id = team.organization_id and t.level = 4)))
$$;

alter table :schema.repositories
  -- Null as long as nobody has counted.
  add column branches integer,
  -- What most of the default branch is written in, and the SPDX ids of its licences, when maintenance looked last.
  add column language text not null default '',
  add column licenses text[] not null default '{}';
-- Maintenance finds all of them out.
update :schema.repositories set maintained_at = null;

alter table :schema.hooks add column name text not null default '';

create index pulls_by_merge_commit on :schema.pulls (repository_id, merge_commit_sha)
  where merge_commit_sha is not null;
