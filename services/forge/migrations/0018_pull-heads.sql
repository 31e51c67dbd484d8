alter table :schema.pulls
  -- Null when the repository of the head is deleted: refs/pull/N/head keeps its commits.
  alter column head_repository_id drop not null,
  drop constraint pulls_head_repository_id_fkey,
  add constraint pulls_head_repository_id_fkey foreign key (head_repository_id)
    references :schema.repositories on delete set null;

alter table :schema.repositories
  -- How a head branch may be brought up to its base.
  add column allow_merge_update boolean not null default true,
  add column allow_rebase_update boolean not null default true,
  add column default_update_style text not null default 'merge' check (default_update_style in ('merge', 'rebase'));
