-- Switched off: what there is stays, and is shown to nobody.
alter table :schema.repositories add column has_releases boolean not null default true;
