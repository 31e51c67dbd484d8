alter table :schema.users
  -- Set in the forge's own settings: what the auth service says no longer changes it.
  add column keeps_full_name boolean not null default false,
  -- Others get an address that leads nowhere.
  add column hides_email boolean not null default false,
  add column stars integer not null default 0,
  -- Of organizations: who administrates a repository may give it to teams and take it from them.
  add column repository_admins_manage_teams boolean not null default false;
create index users_organizations on :schema.users (login_key) where kind = 'organization';
create index public_members_by_user on :schema.public_members (user_id);

-- A team below administration gives what its units say; that one of them can be read gives knowledge of the whole.
create or replace view :schema.grants as
  select r.owner_id as user_id, r.id as repository_id, 4::smallint as level,
    4::smallint as code, 4::smallint as issues, 4::smallint as pulls
  from :schema.repositories r
  union all
  select c.user_id, c.repository_id, c.level, c.level, c.level, c.level from :schema.collaborators c
  union all
  select m.user_id, r.id,
    case when t.level >= 3 then t.level else least(greatest(t.code, t.issues, t.pulls), 1::smallint) end,
    greatest(t.code, case when t.level >= 3 then t.level end),
    greatest(t.issues, case when t.level >= 3 then t.level end), greatest(t.pulls, case when t.level >= 3 then t.level end)
  from :schema.team_members m join :schema.teams t on t.id = m.team_id
    join :schema.repositories r on r.owner_id = t.organization_id
  where t.level = 4 or t.includes_all_repositories
    or exists (select from :schema.team_repositories x where x.team_id = t.id and x.repository_id = r.id);

-- Whether somebody is in any team of an organization; 0 is nobody.
create function :schema.is_member(person bigint, organization bigint) returns boolean
  language sql stable
as $$
  select exists (select from :schema.team_members m join :schema.teams t on t.id = m.team_id
    where m.user_id = person and t.organization_id = organization)
$$;

-- Whether an account may be known to somebody. `sees_all` are site administrators, `public_only` credentials for public
-- things; the two exclude each other.
create function :schema.may_know(person bigint, sees_all boolean, public_only boolean, account bigint, visibility text)
  returns boolean
  language sql stable
as $$
  select visibility = 'public' or sees_all
    or (not public_only and person > 0 and (visibility = 'limited' or :schema.is_member(person, account)))
$$;

-- Counted where rows come and go, so that those count that go along with their account, too.
create function :schema.count_star() returns trigger
  language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    update :schema.repositories set stars = stars + 1 where id = new.repository_id;
    update :schema.users set stars = stars + 1 where id = new.user_id;
  else
    update :schema.repositories set stars = stars - 1 where id = old.repository_id;
    update :schema.users set stars = stars - 1 where id = old.user_id;
  end if;
  return null;
end
$$;
create trigger count_star after insert or delete on :schema.stars
  for each row execute function :schema.count_star();

create function :schema.count_watch() returns trigger
  language plpgsql
as $$
begin
  if tg_op <> 'INSERT' and not old.ignored then
    update :schema.repositories set watchers = watchers - 1 where id = old.repository_id;
  end if;
  if tg_op <> 'DELETE' and not new.ignored then
    update :schema.repositories set watchers = watchers + 1 where id = new.repository_id;
  end if;
  return null;
end
$$;
create trigger count_watch after insert or delete or update of ignored on :schema.watches
  for each row execute function :schema.count_watch();
