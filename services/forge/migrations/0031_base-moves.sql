-- How pushes moved branches while pull requests that are not merged went into them. One that was brought to its base by
-- hand is merged from where the base was before, which its commits do not say.
create table :schema.base_moves (
  id bigint generated always as identity primary key,
  repository_id bigint not null references :schema.repositories on delete cascade,
  branch text not null,
  before_sha text not null,
  after_sha text not null,
  moved_at timestamptz not null
);
create index base_moves_newest on :schema.base_moves (repository_id, branch, id);

-- Whether a branch that was pushed is such a one.
create index pulls_into on :schema.pulls (repository_id, base_branch) where merged_at is null;
