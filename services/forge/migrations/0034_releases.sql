-- What was published under a tag, or is going to be. Whatever is published has its tag; a draft needs none.
create table :schema.releases (
  id bigint generated always as identity primary key,
  repository_id bigint not null references :schema.repositories on delete cascade,
  tag_name text not null,
  -- What the tag is made of if there is none.
  target text not null,
  name text not null,
  body text not null,
  prerelease boolean not null,
  author_id bigint references :schema.users on delete set null,
  created_at timestamptz not null,
  -- Null: a draft.
  published_at timestamptz,
  constraint releases_key unique (repository_id, tag_name)
);
create index releases_newest on :schema.releases (repository_id, (coalesce(published_at, created_at)) desc, id desc);
create index releases_by_author on :schema.releases (author_id) where author_id is not null;

-- Those that are published.
alter table :schema.repositories add column releases integer not null default 0;
create function :schema.count_release() returns trigger
  language plpgsql
as $$
begin
  if tg_op <> 'INSERT' and old.published_at is not null then
    update :schema.repositories set releases = releases - 1 where id = old.repository_id;
  end if;
  if tg_op <> 'DELETE' and new.published_at is not null then
    update :schema.repositories set releases = releases + 1 where id = new.repository_id;
  end if;
  return null;
end
$$;
create trigger count_release after insert or delete or update of published_at on :schema.releases
  for each row execute function :schema.count_release();

alter table :schema.attachments
  add column release_id bigint references :schema.releases on delete cascade,
  add constraint attachments_of_one check (issue_id is null or release_id is null);
create index attachments_by_release on :schema.attachments (release_id) where release_id is not null;
