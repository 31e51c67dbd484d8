-- Who follows whom; people only.
create table :schema.follows (
  follower_id bigint not null references :schema.users on delete cascade,
  followed_id bigint not null references :schema.users on delete cascade,
  created_at timestamptz not null,
  primary key (follower_id, followed_id),
  check (follower_id <> followed_id)
);
create index follows_by_followed on :schema.follows (followed_id);

alter table :schema.users
  add column followers integer not null default 0,
  add column following integer not null default 0;

-- Counted where rows come and go, so that those count that go along with their account, too.
create function :schema.count_follow() returns trigger
  language plpgsql
as $$
declare
  follower bigint := case tg_op when 'INSERT' then new.follower_id else old.follower_id end;
  followed bigint := case tg_op when 'INSERT' then new.followed_id else old.followed_id end;
  change integer := case tg_op when 'INSERT' then 1 else -1 end;
begin
  -- In the order of their ids: two who begin to follow each other at once would wait for each other.
  perform from :schema.users where id in (follower, followed) order by id for no key update;
  update :schema.users u set followers = u.followers + case u.id when followed then change else 0 end,
    following = u.following + case u.id when follower then change else 0 end
  where u.id in (follower, followed);
  return null;
end
$$;
create trigger count_follow after insert or delete on :schema.follows
  for each row execute function :schema.count_follow();

-- What a repository's issues and pull requests can do.
alter table :schema.repositories
  add column tracks_time boolean not null default true,
  -- Writers, and of each issue who wrote it or is assigned to it.
  add column only_contributors_track_time boolean not null default false,
  -- Without, those that are there hold nothing up.
  add column has_dependencies boolean not null default true;
