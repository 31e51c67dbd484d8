-- A head that came after one with checks has some to come: nothing is merged by itself before the first of them has spoken.
alter table :schema.scheduled_merges add column awaits_checks boolean not null default false;
