-- Pull requests that wait for their turn to be merged into a branch, in the order of their ids.
create table :schema.merge_queue (
  id bigint generated always as identity primary key,
  pull_id bigint not null unique references :schema.pulls on delete cascade,
  repository_id bigint not null references :schema.repositories on delete cascade,
  base_branch text not null,
  -- In whose name it is merged, and how he wanted it.
  queued_by bigint not null references :schema.users on delete cascade,
  style text not null,
  title text not null,
  message text not null,
  delete_branch boolean not null,
  -- The head that was queued: another one has to be queued again.
  head_sha text not null,
  queued_at timestamptz not null,
  -- Its merge onto the one before it, all together null until it is made: the commit it stands on, the commit itself,
  -- and since when checks may tell of it.
  onto_sha text,
  merge_base text,
  commit_sha text,
  made_at timestamptz
);
create index merge_queue_order on :schema.merge_queue (repository_id, base_branch, id);

-- Removing a person looks here.
create index merge_queue_by_queuer on :schema.merge_queue (queued_by);
