-- The folder of a repository is named after its id. `state` is the intent: a row that is not `ready` after a crash
-- tells which half of a creation or removal is missing.
create table :schema.repositories (
  id bigint generated always as identity primary key,
  owner_id bigint not null references :schema.users,
  name text not null,
  name_key text not null generated always as (lower(name)) stored,
  description text not null default '',
  private boolean not null,
  default_branch text not null,
  empty boolean not null default true,
  archived boolean not null default false,
  state text not null check (state in ('making', 'ready', 'removing')),
  -- The one sequence of issue and pull request numbers; taken under the row's lock, so without gaps.
  last_number integer not null default 0,
  issues integer not null default 0,
  closed_issues integer not null default 0,
  pulls integer not null default 0,
  closed_pulls integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint repositories_name_key_key unique (owner_id, name_key)
);
create index repositories_unsettled on :schema.repositories (id) where state <> 'ready';

-- Pushes under way: what a crash leaves here is a repository whose branches may be ahead of our rows.
create table :schema.pushes (
  id bigint generated always as identity primary key,
  repository_id bigint not null references :schema.repositories on delete cascade,
  started_at timestamptz not null
);
