-- What goes to the same place stands in a lane of its own: a place that is slow or gone holds up nobody else.
alter table :schema.outbox add column lane text not null default '';
drop index :schema.outbox_due;
create index outbox_due on :schema.outbox (lane, run_at, id) where parked_at is null;
