-- Issues, and of each pull request the half that is an issue.
create table :schema.issues (
  id bigint generated always as identity primary key,
  repository_id bigint not null references :schema.repositories on delete cascade,
  number integer not null,
  is_pull boolean not null,
  poster_id bigint not null references :schema.users,
  title text not null,
  body text not null,
  ref text not null default '',
  closed_at timestamptz,
  deadline_at timestamptz,
  comments integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint issues_number_key unique (repository_id, number)
);
create index issues_newest on :schema.issues (repository_id, created_at desc, id desc);

create table :schema.issue_assignees (
  issue_id bigint not null references :schema.issues on delete cascade,
  user_id bigint not null references :schema.users,
  position integer not null,
  primary key (issue_id, user_id)
);

-- The half of a pull request that is about branches.
create table :schema.pulls (
  id bigint generated always as identity primary key,
  issue_id bigint not null unique references :schema.issues on delete cascade,
  repository_id bigint not null references :schema.repositories on delete cascade,
  base_branch text not null,
  head_repository_id bigint not null references :schema.repositories,
  head_branch text not null,
  -- The commit the pull request stands at, and the one refs/pull/N/head was last written with: they differ while
  -- the ref is being written, and after a crash in that moment.
  head_sha text not null,
  written_sha text,
  allow_maintainer_edit boolean not null default false,
  -- Set together, when merged.
  merged_at timestamptz,
  merge_commit_sha text,
  merge_base text,
  merged_by bigint references :schema.users
);
create index pulls_by_head on :schema.pulls (head_repository_id, head_branch) where merged_at is null;
create index pulls_unwritten on :schema.pulls (id) where written_sha is distinct from head_sha;

-- Merges under way: written before the branch moves, removed with the record of the result.
create table :schema.merges (
  pull_id bigint primary key references :schema.pulls on delete cascade,
  merged_by bigint not null references :schema.users,
  -- The branch that moves; a settlement asks this one, wherever the pull request points by then.
  base_branch text not null,
  base_sha text not null,
  head_sha text not null,
  merge_base text not null,
  commit_sha text not null,
  started_at timestamptz not null
);
