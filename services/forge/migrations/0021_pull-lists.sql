-- Pull requests of a repository in the orders in which lists show them.
create index pulls_created on :schema.issues (repository_id, created_at, id) where is_pull;
create index pulls_open on :schema.issues (repository_id, created_at, id) where is_pull and closed_at is null;
create index pulls_changed on :schema.issues (repository_id, updated_at, id) where is_pull;
create index pulls_closed on :schema.issues (repository_id, closed_at desc nulls last, id desc) where is_pull;
create index pulls_discussed on :schema.issues (repository_id, comments, id) where is_pull;
-- Those into a branch, and those between two.
drop index :schema.pulls_by_repository;
create index pulls_by_base on :schema.pulls (repository_id, base_branch, head_branch, id);

-- A page of the pull requests of a repository, and how many there are in all. The statement is written for what is asked,
-- as one that serves every order would sort all there are. Without filters the repository has the count.
create function :schema.list_pulls(
  repository bigint, state text, sort text, labels bigint[], milestone bigint, poster bigint, base text,
  size integer, skip integer
) returns table (total bigint, ids bigint[]) language plpgsql stable rows 1
as $$
declare
  source text := 'from :schema.issues i where i.repository_id = $1 and i.is_pull'
    || case state when 'open' then ' and i.closed_at is null' when 'closed' then ' and i.closed_at is not null' else '' end
    || case when cardinality(labels) = 0 then ''
      else ' and i.id in (select x.issue_id from :schema.issue_labels x where x.label_id = any($2))' end
    || case when milestone = 0 then '' else ' and i.milestone_id = $3' end
    || case when poster = 0 then '' else ' and i.poster_id = $4' end
    || case when base = '' then ''
      else ' and i.id in (select p.issue_id from :schema.pulls p where p.repository_id = $1 and p.base_branch = $5)' end;
  place text := case sort
    when 'oldest' then 'i.created_at, i.id'
    when 'recentupdate' then 'i.updated_at desc, i.id desc'
    when 'leastupdate' then 'i.updated_at, i.id desc'
    when 'recentclose' then 'i.closed_at desc nulls last, i.id desc'
    when 'mostcomment' then 'i.comments desc, i.id desc'
    when 'leastcomment' then 'i.comments, i.id desc'
    else 'i.created_at desc, i.id desc' end;
begin
  if cardinality(labels) = 0 and milestone = 0 and poster = 0 and base = '' then
    select case list_pulls.state when 'open' then r.pulls - r.closed_pulls when 'closed' then r.closed_pulls else r.pulls end
      into total from :schema.repositories r where r.id = repository;
  else
    execute 'select count(*) ' || source into total using repository, labels, milestone, poster, base;
  end if;
  execute 'select array(select i.id ' || source || ' order by ' || place || ' limit $6 offset $7)'
    into ids using repository, labels, milestone, poster, base, size, skip;
  return next;
end
$$;

-- Requests that must not be done twice, by the key that their caller gave them: what was answered, or null while it is
-- being done and after a crash in that.
create table :schema.idempotency_keys (
  user_id bigint not null references :schema.users on delete cascade,
  key text not null,
  -- Of method, path and body.
  request_hash bytea not null,
  status integer,
  answer text,
  created_at timestamptz not null,
  primary key (user_id, key)
);
create index idempotency_keys_by_age on :schema.idempotency_keys (created_at);
