-- What people say of a pull request as a whole, once submitted; until then only its author sees it.
create table :schema.reviews (
  id bigint generated always as identity primary key,
  pull_id bigint not null references :schema.pulls on delete cascade,
  reviewer_id bigint references :schema.users on delete set null,
  kind text not null check (kind in ('PENDING', 'APPROVED', 'REQUEST_CHANGES', 'COMMENT')),
  body text not null default '',
  -- The commit that was looked at.
  commit_sha text not null,
  -- Whether it counts for the protection of the base branch, decided when it was submitted.
  official boolean not null default false,
  -- Whether the head has moved on.
  stale boolean not null default false,
  dismissed_at timestamptz,
  submitted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((kind = 'PENDING') = (submitted_at is null))
);
create index reviews_by_pull on :schema.reviews (pull_id, id);
create index reviews_by_reviewer on :schema.reviews (reviewer_id, pull_id);
create unique index reviews_pending on :schema.reviews (pull_id, reviewer_id) where kind = 'PENDING';

-- Who is asked for a review and has not given it yet. Lists show them among the reviews, so both take their ids from
-- one sequence.
create table :schema.review_requests (
  id bigint primary key default nextval(pg_get_serial_sequence(':schema.reviews', 'id')),
  pull_id bigint not null references :schema.pulls on delete cascade,
  -- One of the two.
  reviewer_id bigint references :schema.users on delete cascade,
  team_id bigint references :schema.teams on delete cascade,
  requested_by bigint references :schema.users on delete set null,
  official boolean not null default false,
  created_at timestamptz not null,
  check ((reviewer_id is null) <> (team_id is null)),
  constraint review_requests_key unique nulls not distinct (pull_id, reviewer_id, team_id)
);
create index review_requests_by_reviewer on :schema.review_requests (reviewer_id) where reviewer_id is not null;
create index review_requests_by_team on :schema.review_requests (team_id) where team_id is not null;

-- Where the comments of a review stand. The text is that of the comment, an entry of the kind `code` in the timeline;
-- as long as the review is pending the entry has `pending` in its details, and is for nobody else.
create table :schema.review_comments (
  comment_id bigint primary key references :schema.comments on delete cascade,
  review_id bigint not null references :schema.reviews on delete cascade,
  path text not null,
  -- Line of the file after the change; below zero, of the file before it.
  line integer not null check (line <> 0),
  commit_sha text not null,
  diff_hunk text not null
);
create index review_comments_by_review on :schema.review_comments (review_id, comment_id);

-- Reviews and requests for them, as lists show them.
create view :schema.review_entries as
  select r.id, r.pull_id, r.reviewer_id, null::bigint as team_id, r.kind as state, r.body, r.commit_sha, r.official,
    r.stale, r.dismissed_at is not null as dismissed, r.submitted_at, r.created_at, r.updated_at
  from :schema.reviews r
  union all
  select q.id, q.pull_id, q.reviewer_id, q.team_id, 'REQUEST_REVIEW', '', '', q.official, false, false, null,
    q.created_at, q.created_at
  from :schema.review_requests q;

-- Who is asked to review a pull request now: teams as rows, as answers need them.
create view :schema.review_wishes as
  select p.id as pull_id,
    coalesce((select jsonb_agg(q.reviewer_id order by q.id) from :schema.review_requests q
      where q.pull_id = p.id and q.reviewer_id is not null), '[]'::jsonb) as reviewer_ids,
    coalesce((select jsonb_agg(to_jsonb(t) order by q.id) from :schema.review_requests q
      join :schema.teams t on t.id = q.team_id where q.pull_id = p.id), '[]'::jsonb) as reviewer_teams
  from :schema.pulls p;

-- The pull requests somebody is asked to review, himself or one of his teams, and those he reviewed; null when neither
-- is wanted.
create function :schema.reviewing(person bigint, asked boolean, reviewed boolean) returns bigint[]
  language sql stable
as $$
  select case when asked or reviewed then array(
    select p.issue_id from :schema.pulls p
    where (not asked or p.id in (
        select q.pull_id from :schema.review_requests q where q.reviewer_id = person
        union all
        select q.pull_id from :schema.team_members m join :schema.review_requests q on q.team_id = m.team_id
        where m.user_id = person))
      and (not reviewed or p.id in (
        select r.pull_id from :schema.reviews r where r.reviewer_id = person and r.kind <> 'PENDING'))) end
$$;

-- Lists can be limited to some issues: the two functions of 0014 with one more parameter.
drop function :schema.find_issues, :schema.find_narrow;

-- A page of what a list leaves that filters by more than bits tell: everything that passes is looked up, by the index of
-- the rarest filter. Planned each time, with the values: which that is differs.
create function :schema.find_narrow(
  scope :schema.list_scope[], by_bits boolean, matching :schema.block_bits[], is_closed boolean, only_pulls boolean,
  milestones text[], since timestamptz, before timestamptz, creator bigint, assignee bigint, mentioned text,
  priority bigint, size integer, skip integer, among bigint[]
) returns table (total bigint, ids bigint[]) language plpgsql stable rows 1 set plan_cache_mode to force_custom_plan as $$
declare
  wanted bigint[] := array(
    select m.id from :schema.milestones m
    where milestones is not null and m.repository_id in (select s.repository_id from unnest(scope) s)
      and (lower(m.title) = any(milestones) or m.id::text = any(milestones)));
  assigned bigint[] := array(select a.issue_id from :schema.issue_assignees a where a.user_id = assignee);
begin
  return query
    with picked as materialized (
      select i.id, i.created_at, i.repository_id = priority as has_priority
      from :schema.issues i join unnest(scope) s on s.repository_id = i.repository_id
        left join unnest(matching) h on by_bits and h.repository_id = i.repository_id and h.block = i.number >> 6
      where case when i.is_pull then s.pulls and only_pulls is not false else s.issues and only_pulls is not true end
        and (is_closed is null or (i.closed_at is not null) = is_closed)
        and (not by_bits or (h.bits >> (i.number & 63)) & 1 = 1)
        and (milestones is null or i.milestone_id = any(wanted))
        and (since is null or i.updated_at >= since) and (before is null or i.updated_at <= before)
        and (creator is null or i.poster_id = creator)
        and (assignee is null or i.id = any(assigned))
        and (among is null or i.id = any(among))
        and (mentioned = '' or :schema.mentions(i.id, mentioned))
    )
    select (select count(*) from picked), array(
      select p.id from picked p order by p.has_priority desc, p.created_at desc, p.id desc limit size offset skip);
end
$$;

-- A page of issues, newest first, those of one repository before the others, and how many there are in all. `linked`
-- counts the issues of the scope, whatever the other filters leave of them. `among` are the only ones wanted; null for all.
create function :schema.find_issues(
  scope :schema.list_scope[], state text, kind text, labels text[], keyword text, mentioned text,
  milestones text[], since timestamptz, before timestamptz, creator bigint, assignee bigint,
  priority bigint, size integer, skip integer, among bigint[] default null
) returns table (total bigint, linked bigint, ids bigint[])
  -- One row: for more the planner would prepare what stands around all issues there are.
  language plpgsql stable rows 1
as $$
declare
  is_closed boolean := case state when 'closed' then true when 'open' then false end;
  only_pulls boolean := case kind when 'pulls' then true when 'issues' then false end;
  -- Then the indexes of these repositories are looked at, otherwise that of all issues.
  is_few boolean := cardinality(scope) <= 20;
  by_bits boolean := keyword <> '' or mentioned <> '' or cardinality(labels) > 0;
  matching :schema.block_bits[] := '{}';
  everything bigint;
  newest bigint;
begin
  select coalesce(sum(case when s.issues and only_pulls is not true then x.issues else 0 end
      + case when s.pulls and only_pulls is not false then x.pulls else 0 end), 0),
    coalesce(sum(case when s.issues then x.issues else 0 end), 0), coalesce(sum(r.last_number), 0)
    into total, linked, everything
  from unnest(scope) s join :schema.repositories r on r.id = s.repository_id
    cross join lateral (select
      case is_closed when true then r.closed_issues when false then r.issues - r.closed_issues else r.issues end as issues,
      case is_closed when true then r.closed_pulls when false then r.pulls - r.closed_pulls else r.pulls end as pulls) x;
  if by_bits then
    matching := array(select x from :schema.matching_bits(scope, is_closed, only_pulls, labels, keyword, mentioned) x);
    total := (select coalesce(sum(bit_count(h.bits::bit(64))), 0) from unnest(matching) h);
  end if;
  if mentioned <> '' or num_nonnulls(milestones, since, before, creator, assignee, among) > 0 then
    return query select n.total, find_issues.linked, n.ids from :schema.find_narrow(scope, by_bits, matching, is_closed,
      only_pulls, milestones, since, before, creator, assignee, mentioned, priority, size, skip, among) n;
    return;
  end if;
  ids := '{}';
  if total <= skip then
    return next;
    return;
  end if;
  if by_bits and (is_few or total <= 1000) then
    ids := array(
      select i.id from unnest(matching) h join :schema.issues i on i.repository_id = h.repository_id
        and i.number between h.block * 64 and h.block * 64 + 63
      where (h.bits >> (i.number & 63)) & 1 = 1
      order by i.repository_id = priority desc, i.created_at desc, i.id desc limit size offset skip);
    return next;
    return;
  end if;
  if is_few then
    ids := array(
      select n.id from unnest(scope) s cross join lateral (
        select i.id, i.created_at, i.repository_id from :schema.issues i
        where i.repository_id = s.repository_id and (is_closed is null or (i.closed_at is not null) = is_closed)
          and case when i.is_pull then s.pulls and only_pulls is not false else s.issues and only_pulls is not true end
        order by i.created_at desc, i.id desc limit size + skip) n
      order by n.repository_id = priority desc, n.created_at desc, n.id desc limit size offset skip);
    return next;
    return;
  end if;
  -- Of many the first ones are among the newest of all; if they are not, everything is looked at.
  everything := greatest(everything, (select c.reltuples::bigint from pg_class c where c.oid = ':schema.issues'::regclass));
  foreach newest in array array[2 * (skip + size) * everything / total + 100, null] loop
    ids := array(
      select n.id from (
        (select i.id, i.created_at, i.repository_id, i.number, i.is_pull, i.closed_at from :schema.issues i
          where i.repository_id = priority)
        union all
        (select * from (
          select i.id, i.created_at, i.repository_id, i.number, i.is_pull, i.closed_at from :schema.issues i
          order by i.created_at desc, i.id desc limit newest) i where i.repository_id <> priority)
      ) n join unnest(scope) s on s.repository_id = n.repository_id
        left join unnest(matching) h on h.repository_id = n.repository_id and h.block = n.number >> 6
      where case when n.is_pull then s.pulls and only_pulls is not false else s.issues and only_pulls is not true end
        and (is_closed is null or (n.closed_at is not null) = is_closed)
        and (not by_bits or (h.bits >> (n.number & 63)) & 1 = 1)
      order by n.repository_id = priority desc, n.created_at desc, n.id desc limit size offset skip);
    exit when cardinality(ids) >= least(size, total - skip);
  end loop;
  return next;
end
$$;

-- Removing a person looks here.
create index review_requests_by_requester on :schema.review_requests (requested_by);
