create table :schema.hooks (
  id bigint generated always as identity primary key,
  -- At most one of the two; none of them is a hook of the whole system.
  repository_id bigint references :schema.repositories on delete cascade,
  owner_id bigint references :schema.users on delete cascade,
  type text not null,
  url text not null,
  content_type text not null check (content_type in ('json', 'form')),
  -- Sealed: what signs deliveries must be readable by us, and by nobody who has the table.
  secret bytea,
  authorization_header bytea,
  events text[] not null,
  branch_filter text not null default '',
  active boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (repository_id is null or owner_id is null)
);
create index hooks_by_repository on :schema.hooks (repository_id) where repository_id is not null;
create index hooks_by_owner on :schema.hooks (owner_id) where owner_id is not null;
create index hooks_of_system on :schema.hooks (id) where repository_id is null and owner_id is null;

-- What was sent, or is to be; the newest of each hook are kept.
create table :schema.hook_deliveries (
  id bigint generated always as identity primary key,
  hook_id bigint not null references :schema.hooks on delete cascade,
  uuid uuid not null unique,
  event text not null,
  event_type text not null,
  payload text not null,
  attempts integer not null default 0,
  -- Null until the last attempt ended.
  delivered_at timestamptz,
  succeeded boolean,
  status integer,
  request_headers jsonb,
  response_headers jsonb,
  response_body text,
  error text,
  created_at timestamptz not null
);
create index hook_deliveries_by_hook on :schema.hook_deliveries (hook_id, id desc);

-- One thread for each person and subject.
create table :schema.notifications (
  id bigint generated always as identity primary key,
  user_id bigint not null references :schema.users on delete cascade,
  repository_id bigint not null references :schema.repositories on delete cascade,
  issue_id bigint references :schema.issues on delete cascade,
  status text not null check (status in ('unread', 'read', 'pinned')),
  comment_id bigint references :schema.comments on delete set null,
  -- The latest event that reached it: an event that is worked off twice changes nothing.
  event_id bigint not null default 0,
  updated_at timestamptz not null,
  constraint notifications_subject_key unique nulls not distinct (user_id, repository_id, issue_id)
);
create index notifications_by_user on :schema.notifications (user_id, updated_at desc);
