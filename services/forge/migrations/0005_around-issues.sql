-- Whoever leaves is a ghost in what he wrote.
alter table :schema.issues alter column poster_id drop not null,
  drop constraint issues_poster_id_fkey,
  add constraint issues_poster_id_fkey foreign key (poster_id) references :schema.users on delete set null;
alter table :schema.issue_assignees drop constraint issue_assignees_user_id_fkey,
  add constraint issue_assignees_user_id_fkey foreign key (user_id) references :schema.users on delete cascade;
create index issue_assignees_by_user on :schema.issue_assignees (user_id);
alter table :schema.pulls drop constraint pulls_merged_by_fkey,
  add constraint pulls_merged_by_fkey foreign key (merged_by) references :schema.users on delete set null;

create table :schema.labels (
  id bigint generated always as identity primary key,
  -- One of the two has it.
  repository_id bigint references :schema.repositories on delete cascade,
  organization_id bigint references :schema.users on delete cascade,
  name text not null,
  -- Six hexadecimal digits.
  color text not null,
  description text not null default '',
  exclusive boolean not null default false,
  archived_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((repository_id is null) <> (organization_id is null))
);
create index labels_by_repository on :schema.labels (repository_id, lower(name)) where repository_id is not null;
create index labels_by_organization on :schema.labels (organization_id, lower(name)) where organization_id is not null;
create table :schema.issue_labels (
  issue_id bigint not null references :schema.issues on delete cascade,
  label_id bigint not null references :schema.labels on delete cascade,
  primary key (issue_id, label_id)
);
create index issue_labels_by_label on :schema.issue_labels (label_id, issue_id);

create table :schema.milestones (
  id bigint generated always as identity primary key,
  repository_id bigint not null references :schema.repositories on delete cascade,
  title text not null,
  description text not null default '',
  due_at timestamptz,
  closed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index milestones_by_repository on :schema.milestones (repository_id, id);

alter table :schema.issues
  add column milestone_id bigint references :schema.milestones on delete set null,
  add column locked_at timestamptz,
  add column lock_reason text not null default '',
  -- 1 is the first of the pinned; 0 is not pinned.
  add column pin_order integer not null default 0,
  -- Counts the edits, for clients that do not want to overwrite somebody else's.
  add column content_version integer not null default 0,
  add column time_estimate_seconds bigint not null default 0;
create index issues_by_milestone on :schema.issues (milestone_id) where milestone_id is not null;
create index issues_by_poster on :schema.issues (poster_id);
create index issues_newest_of_all on :schema.issues (created_at desc, id desc);

-- Everything that happened to an issue, in order; `kind` is the reference's name of it (`comment`, `close`, `label` …).
create table :schema.comments (
  id bigint generated always as identity primary key,
  issue_id bigint not null references :schema.issues on delete cascade,
  kind text not null,
  poster_id bigint references :schema.users on delete set null,
  body text not null default '',
  -- What the kind needs besides: old and new title, the label, the assignee …, by the names of the API; ids, not copies.
  details jsonb not null default '{}',
  content_version integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index comments_by_issue on :schema.comments (issue_id, id);
create index comments_written on :schema.comments (issue_id, created_at) where kind = 'comment';

create table :schema.reactions (
  id bigint generated always as identity primary key,
  issue_id bigint not null references :schema.issues on delete cascade,
  -- Null: to the issue itself.
  comment_id bigint references :schema.comments on delete cascade,
  user_id bigint not null references :schema.users on delete cascade,
  content text not null,
  created_at timestamptz not null,
  constraint reactions_key unique nulls not distinct (issue_id, comment_id, user_id, content)
);
create index reactions_by_comment on :schema.reactions (comment_id) where comment_id is not null;

create table :schema.dependencies (
  issue_id bigint not null references :schema.issues on delete cascade,
  -- Must be closed first.
  blocked_by bigint not null references :schema.issues on delete cascade,
  primary key (issue_id, blocked_by),
  check (issue_id <> blocked_by)
);
create index dependencies_by_blocker on :schema.dependencies (blocked_by);

create table :schema.issue_subscriptions (
  issue_id bigint not null references :schema.issues on delete cascade,
  user_id bigint not null references :schema.users on delete cascade,
  subscribed boolean not null,
  created_at timestamptz not null,
  primary key (issue_id, user_id)
);

create table :schema.tracked_times (
  id bigint generated always as identity primary key,
  issue_id bigint not null references :schema.issues on delete cascade,
  user_id bigint references :schema.users on delete set null,
  seconds bigint not null,
  created_at timestamptz not null
);
create index tracked_times_by_issue on :schema.tracked_times (issue_id);
create index tracked_times_by_user on :schema.tracked_times (user_id, created_at);
create table :schema.stopwatches (
  user_id bigint not null references :schema.users on delete cascade,
  issue_id bigint not null references :schema.issues on delete cascade,
  started_at timestamptz not null,
  primary key (user_id, issue_id)
);

-- The file is named after the row's id. `stored` is false while it is being written; such rows are removed at start.
create table :schema.attachments (
  id bigint generated always as identity primary key,
  uuid uuid not null unique,
  repository_id bigint not null references :schema.repositories on delete cascade,
  issue_id bigint references :schema.issues on delete cascade,
  comment_id bigint references :schema.comments on delete cascade,
  uploader_id bigint references :schema.users on delete set null,
  name text not null,
  size_bytes bigint not null,
  downloads integer not null default 0,
  stored boolean not null default false,
  created_at timestamptz not null
);
create index attachments_by_issue on :schema.attachments (issue_id);
create index attachments_by_comment on :schema.attachments (comment_id);
