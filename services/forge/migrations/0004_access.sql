-- Organizations are accounts nobody signs in to: names of people and organizations are one set.
alter table :schema.users
  alter column auth_user_id drop not null,
  add column kind text not null default 'person' check (kind in ('person', 'organization')),
  add column description text not null default '',
  add column website text not null default '',
  add column location text not null default '',
  -- Who may know of the account: everybody, the signed in, or members only. People are public.
  add column visibility text not null default 'public' check (visibility in ('public', 'limited', 'private')),
  -- Refused by the auth service, and asked about again a minute later.
  add column refused_at timestamptz,
  add column checked_at timestamptz,
  add constraint users_signs_in check ((kind = 'organization') = (auth_user_id is null));

-- Old names lead to where things are now, until somebody else takes the name.
create table :schema.former_logins (
  login_key text primary key,
  user_id bigint not null references :schema.users on delete cascade
);
create table :schema.former_repository_names (
  owner_id bigint not null references :schema.users on delete cascade,
  name_key text not null,
  repository_id bigint not null,
  primary key (owner_id, name_key)
);

alter table :schema.repositories
  add column website text not null default '',
  add column topics text[] not null default '{}',
  add column has_issues boolean not null default true,
  add column has_pulls boolean not null default true,
  add column fork_of bigint references :schema.repositories on delete set null,
  add column template boolean not null default false,
  add column archived_at timestamptz,
  add column allow_merge boolean not null default true,
  add column allow_rebase boolean not null default true,
  add column allow_rebase_explicit boolean not null default true,
  add column allow_squash boolean not null default true,
  add column allow_fast_forward_only boolean not null default true,
  add column allow_manual_merge boolean not null default true,
  add column default_merge_style text not null default 'merge',
  add column delete_branch_after_merge boolean not null default false,
  add column default_maintainer_edit boolean not null default false,
  add column size_bytes bigint not null default 0,
  add column stars integer not null default 0,
  add column watchers integer not null default 0,
  add column forks integer not null default 0;
create index repositories_by_fork on :schema.repositories (fork_of) where fork_of is not null;
create index repositories_topics on :schema.repositories using gin (topics);
alter table :schema.former_repository_names
  add foreign key (repository_id) references :schema.repositories on delete cascade;

-- Levels, everywhere: 0 none, 1 read, 2 write, 3 admin, 4 owner.
create table :schema.collaborators (
  repository_id bigint not null references :schema.repositories on delete cascade,
  user_id bigint not null references :schema.users on delete cascade,
  level smallint not null check (level between 1 and 3),
  primary key (repository_id, user_id)
);
create index collaborators_by_user on :schema.collaborators (user_id);

create table :schema.teams (
  id bigint generated always as identity primary key,
  organization_id bigint not null references :schema.users on delete cascade,
  name text not null,
  name_key text not null generated always as (lower(name)) stored,
  description text not null default '',
  -- 4 makes owners of the organization; 3 gives every unit; below, the units say what a member may do.
  level smallint not null check (level between 0 and 4),
  code smallint not null default 0 check (code between 0 and 2),
  issues smallint not null default 0 check (issues between 0 and 2),
  pulls smallint not null default 0 check (pulls between 0 and 2),
  includes_all_repositories boolean not null default false,
  can_create_repositories boolean not null default false,
  created_at timestamptz not null,
  constraint teams_name_key_key unique (organization_id, name_key)
);
create table :schema.team_members (
  team_id bigint not null references :schema.teams on delete cascade,
  user_id bigint not null references :schema.users on delete cascade,
  primary key (team_id, user_id)
);
create index team_members_by_user on :schema.team_members (user_id);
create table :schema.team_repositories (
  team_id bigint not null references :schema.teams on delete cascade,
  repository_id bigint not null references :schema.repositories on delete cascade,
  primary key (team_id, repository_id)
);
create index team_repositories_by_repository on :schema.team_repositories (repository_id);

-- Whoever is in a team is a member; here stands who shows it.
create table :schema.public_members (
  organization_id bigint not null references :schema.users on delete cascade,
  user_id bigint not null references :schema.users on delete cascade,
  primary key (organization_id, user_id)
);

-- What people may do besides what everybody may: one row for each reason. The one place where access is derived.
create view :schema.grants as
  select r.owner_id as user_id, r.id as repository_id, 4::smallint as level,
    4::smallint as code, 4::smallint as issues, 4::smallint as pulls
  from :schema.repositories r
  union all
  select c.user_id, c.repository_id, c.level, c.level, c.level, c.level from :schema.collaborators c
  union all
  select m.user_id, r.id, t.level, greatest(t.code, case when t.level >= 3 then t.level end),
    greatest(t.issues, case when t.level >= 3 then t.level end), greatest(t.pulls, case when t.level >= 3 then t.level end)
  from :schema.team_members m join :schema.teams t on t.id = m.team_id
    join :schema.repositories r on r.owner_id = t.organization_id
  where t.level = 4 or t.includes_all_repositories
    or exists (select from :schema.team_repositories x where x.team_id = t.id and x.repository_id = r.id);

-- All reasons together, always one row; a member of any team of the owner belongs to it.
create function :schema.access_of(person bigint, repository bigint, owner bigint)
  returns table (level smallint, code smallint, issues smallint, pulls smallint, is_member boolean)
  language sql stable
as $$
  select max(g.level), max(g.code), max(g.issues), max(g.pulls),
    exists (select from :schema.team_members m join :schema.teams t on t.id = m.team_id
      where m.user_id = person and t.organization_id = owner)
  from :schema.grants g where g.user_id = person and g.repository_id = repository
$$;

create table :schema.stars (
  repository_id bigint not null references :schema.repositories on delete cascade,
  user_id bigint not null references :schema.users on delete cascade,
  created_at timestamptz not null,
  primary key (repository_id, user_id)
);
create index stars_by_user on :schema.stars (user_id);
-- Ignoring a repository is a choice too: nothing subscribes its user again by itself.
create table :schema.watches (
  repository_id bigint not null references :schema.repositories on delete cascade,
  user_id bigint not null references :schema.users on delete cascade,
  ignored boolean not null default false,
  created_at timestamptz not null,
  primary key (repository_id, user_id)
);
create index watches_by_user on :schema.watches (user_id);

create table :schema.branch_protections (
  id bigint generated always as identity primary key,
  repository_id bigint not null references :schema.repositories on delete cascade,
  -- A branch name or a glob.
  rule_name text not null,
  priority integer not null default 0,
  -- The rest as the API names it: what one service writes and reads, and nobody queries by.
  options jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint branch_protections_rule_name_key unique (repository_id, rule_name)
);

create table :schema.commit_statuses (
  id bigint generated always as identity primary key,
  repository_id bigint not null references :schema.repositories on delete cascade,
  sha text not null,
  state text not null check (state in ('pending', 'success', 'error', 'failure', 'warning', 'skipped')),
  context text not null,
  target_url text not null,
  description text not null,
  creator_id bigint references :schema.users on delete set null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index commit_statuses_by_commit on :schema.commit_statuses (repository_id, sha, context, id desc);
