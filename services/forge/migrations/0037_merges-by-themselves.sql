-- A head that came after one with checks has some to come: nothing is merged by itself before the first of them has spoken.
alter table :schema.scheduled_merges add column awaits_checks boolean not null default false;

alter table :schema.merges
  -- Whose wish it is that is carried out: 'schedule' and 'queue' merge by themselves. Null for whoever asks and is answered,
  -- who says himself what becomes of the head branch.
  add column made_by text check (made_by in ('schedule', 'queue'));
