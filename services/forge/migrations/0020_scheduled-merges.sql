-- Merges that happen by themselves once everything that was asked for is there.
create table :schema.scheduled_merges (
  pull_id bigint primary key references :schema.pulls on delete cascade,
  repository_id bigint not null references :schema.repositories on delete cascade,
  -- In whose name, with the rights of the moment it happens; null when the account is gone, which ends it.
  scheduled_by bigint references :schema.users on delete set null,
  style text not null,
  title text not null,
  message text not null,
  delete_branch boolean not null,
  scheduled_at timestamptz not null
);
create index scheduled_merges_by_repository on :schema.scheduled_merges (repository_id);
create index scheduled_merges_by_scheduler on :schema.scheduled_merges (scheduled_by);

-- Has a look taken at scheduled merges, once what makes one necessary has committed. Due at once, whatever the clocks of
-- the forge and of the database say.
create function :schema.try_scheduled(pull_ids bigint[]) returns void
  language plpgsql
as $$
begin
  insert into :schema.outbox (topic, payload, lane, created_at, run_at)
  select 'scheduled-merge', jsonb_build_object('pullId', s.pull_id), 'merges of ' || s.repository_id, now(), '-infinity'
  from :schema.scheduled_merges s where s.pull_id = any(pull_ids);
  if found then
    perform pg_notify('croft_outbox', '');
  end if;
end
$$;

-- What a merge depends on changes in many places, some of which are nobody's request: so the tables tell.
create function :schema.note_scheduled() returns trigger
  language plpgsql
as $$
begin
  perform :schema.try_scheduled(array[new.pull_id]);
  return null;
end
$$;
-- Also when the scheduler's account goes.
create trigger try_scheduled after insert or update on :schema.scheduled_merges
  for each row execute function :schema.note_scheduled();

create function :schema.note_status() returns trigger
  language plpgsql
as $$
begin
  perform :schema.try_scheduled(array(
    select s.pull_id from :schema.scheduled_merges s join :schema.pulls p on p.id = s.pull_id
    where s.repository_id = new.repository_id and p.head_sha = new.sha));
  return null;
end
$$;
create trigger try_scheduled after insert on :schema.commit_statuses
  for each row execute function :schema.note_status();

create function :schema.note_review() returns trigger
  language plpgsql
as $$
begin
  perform :schema.try_scheduled(array[coalesce(new.pull_id, old.pull_id)]);
  return null;
end
$$;
create trigger try_scheduled after insert or update or delete on :schema.reviews
  for each row execute function :schema.note_review();
create trigger try_scheduled after insert or update or delete on :schema.review_requests
  for each row execute function :schema.note_review();

create function :schema.note_pull() returns trigger
  language plpgsql
as $$
begin
  perform :schema.try_scheduled(array[new.id]);
  return null;
end
$$;
create trigger try_scheduled after update of head_sha, base_branch on :schema.pulls
  for each row when (new.merged_at is null) execute function :schema.note_pull();

create function :schema.note_protection() returns trigger
  language plpgsql
as $$
begin
  perform :schema.try_scheduled(array(
    select s.pull_id from :schema.scheduled_merges s where s.repository_id = coalesce(new.repository_id, old.repository_id)));
  return null;
end
$$;
create trigger try_scheduled after insert or update or delete on :schema.branch_protections
  for each row execute function :schema.note_protection();

create function :schema.note_switches() returns trigger
  language plpgsql
as $$
begin
  perform :schema.try_scheduled(array(
    select s.pull_id from :schema.scheduled_merges s where s.repository_id = new.id));
  return null;
end
$$;
create trigger try_scheduled after update of archived, has_pulls, allow_merge, allow_rebase, allow_rebase_explicit,
  allow_squash, allow_fast_forward_only on :schema.repositories
  for each row execute function :schema.note_switches();

create function :schema.note_dependency() returns trigger
  language plpgsql
as $$
begin
  perform :schema.try_scheduled(array(select p.id from :schema.pulls p where p.issue_id = old.issue_id));
  return null;
end
$$;
create trigger try_scheduled after delete on :schema.dependencies
  for each row execute function :schema.note_dependency();

-- The base moved: by a push, of which the intent ends when everything else about it is recorded.
create function :schema.note_push() returns trigger
  language plpgsql
as $$
begin
  perform :schema.try_scheduled(array(
    select s.pull_id from :schema.scheduled_merges s join :schema.pulls p on p.id = s.pull_id
    where s.repository_id = old.repository_id and 'refs/heads/' || p.base_branch in (
      select m->>'ref' from jsonb_array_elements(old.details->'moves') m)));
  return null;
end
$$;
create trigger try_scheduled after delete on :schema.pushes
  for each row execute function :schema.note_push();

-- Or by another merge.
create function :schema.note_merge() returns trigger
  language plpgsql
as $$
begin
  perform :schema.try_scheduled(array(
    select s.pull_id from :schema.scheduled_merges s join :schema.pulls p on p.id = s.pull_id
      join :schema.pulls m on m.id = old.pull_id and m.repository_id = s.repository_id
    where p.base_branch = old.base_branch));
  return null;
end
$$;
create trigger try_scheduled after delete on :schema.merges
  for each row execute function :schema.note_merge();

-- An issue that is closed is waited for no longer. A pull request that is closed or merged has nothing scheduled any
-- more; its head branch is deleted, when that was wished, by an effect of its own that no crash forgets.
create function :schema.note_issue() returns trigger
  language plpgsql
as $$
begin
  if new.closed_at is not null and old.closed_at is null then
    with ended as (
      delete from :schema.scheduled_merges s using :schema.pulls p
      where p.issue_id = new.id and s.pull_id = p.id
      returning s.pull_id, s.repository_id, s.scheduled_by, p.merged_by, s.delete_branch
    )
    insert into :schema.outbox (topic, payload, lane, created_at, run_at)
    select 'merged-head', jsonb_build_object('pullId', e.pull_id, 'actorId', e.merged_by), 'merges of ' || e.repository_id,
      now(), '-infinity'
    from ended e where e.delete_branch and e.merged_by = e.scheduled_by;
    perform :schema.try_scheduled(array(
      select p.id from :schema.dependencies d join :schema.pulls p on p.issue_id = d.issue_id
      where d.blocked_by = new.id));
  elsif new.is_pull then
    perform :schema.try_scheduled(array(select p.id from :schema.pulls p where p.issue_id = new.id));
  end if;
  return null;
end
$$;
create trigger try_scheduled after update of closed_at, title on :schema.issues
  for each row when (new.closed_at is distinct from old.closed_at or new.title <> old.title)
  execute function :schema.note_issue();
