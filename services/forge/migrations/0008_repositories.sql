-- When git last tidied up in a repository, and how often in a row that failed.
alter table :schema.repositories
  add column maintained_at timestamptz,
  add column maintenance_failures integer not null default 0;
create index repositories_to_maintain on :schema.repositories (updated_at)
  where state = 'ready' and (maintained_at is null or updated_at > maintained_at);

-- Repositories somebody wants to give to somebody else, who has not said yes yet.
create table :schema.repository_transfers (
  repository_id bigint primary key references :schema.repositories on delete cascade,
  doer_id bigint not null references :schema.users on delete cascade,
  recipient_id bigint not null references :schema.users on delete cascade,
  -- Teams of the organization that get the repository with it.
  team_ids bigint[] not null,
  created_at timestamptz not null
);

-- What somebody may read, for lists across repositories: rules/permission.ts for statements, and the one place where it
-- stands for them. 0 is nobody; `sees_all` are site administrators, `public_only` credentials for public things.
create function :schema.readable(person bigint, sees_all boolean, public_only boolean)
  returns table (repository_id bigint, owner_id bigint, code boolean, issues boolean, pulls boolean)
  language sql stable
as $$
  select r.id, r.owner_id, o.everything or coalesce(g.code, 0) >= 1,
    r.has_issues and (o.everything or coalesce(g.issues, 0) >= 1),
    r.has_pulls and (o.everything or coalesce(g.pulls, 0) >= 1)
  from :schema.repositories r join :schema.users u on u.id = r.owner_id
    left join (select repository_id, max(level) as level, max(code) as code, max(issues) as issues, max(pulls) as pulls
      from :schema.grants where user_id = person group by repository_id) g on g.repository_id = r.id
    cross join lateral (select sees_all or (not r.private and (u.visibility = 'public'
      or (person > 0 and (u.visibility = 'limited' or g.repository_id is not null
        or r.owner_id in (select t.organization_id from :schema.team_members m join :schema.teams t on t.id = m.team_id
          where m.user_id = person)))))) as o (everything)
  where r.state = 'ready' and (o.everything or greatest(g.level, g.code, g.issues, g.pulls) >= 1)
    and not (public_only and (r.private or u.visibility <> 'public'))
$$;

-- The repositories themselves.
create function :schema.visible_repositories(person bigint, sees_all boolean, public_only boolean)
  returns setof :schema.repositories
  language sql stable
as $$
  select r.* from :schema.repositories r
    join :schema.readable(person, sees_all, public_only) x on x.repository_id = r.id
$$;

-- Whether somebody may read a unit of a repository (`code`, `issues`, `pulls`).
create function :schema.may_read_unit(
  person bigint, sees_all boolean, public_only boolean, repository bigint, unit text
) returns boolean
  language sql stable
as $$
  select exists (select from :schema.readable(person, sees_all, public_only) x where x.repository_id = repository
    and case unit when 'pulls' then x.pulls when 'issues' then x.issues else x.code end)
$$;
