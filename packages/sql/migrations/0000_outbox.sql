-- Effects that leave the database (mail, hooks) are rows first: written with the change they announce, delivered after it.
create table :schema.outbox (
  id bigint generated always as identity primary key,
  topic text not null,
  payload jsonb not null,
  created_at timestamptz not null,
  run_at timestamptz not null,
  attempts integer not null default 0,
  last_error text,
  parked_at timestamptz
);
create index outbox_due on :schema.outbox (run_at) where parked_at is null;
