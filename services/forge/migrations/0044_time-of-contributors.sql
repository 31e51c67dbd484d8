-- As in the reference time is tracked by contributors only, unless administrators say otherwise; repositories that are there stay as they are.
alter table :schema.repositories alter column only_contributors_track_time set default true;
