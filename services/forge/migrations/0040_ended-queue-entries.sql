-- One that is closed, or gets another base, and is open again with the old one before anybody looks was out of the queue meanwhile,
-- and stays out.
alter table :schema.merge_queue add column ended boolean not null default false;
