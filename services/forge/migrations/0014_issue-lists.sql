-- Lists of issues as functions: each of their few statements is simple enough to be planned well, and lists of one
-- repository and searches of all are the same from here on.

-- The newest of a repository, with what a list sorts out by without looking at them, as `issues_newest_of_all` has it.
drop index :schema.issues_newest;
create index issues_newest on :schema.issues (repository_id, created_at desc, id desc)
  include (number, is_pull, closed_at);
create index issues_changed on :schema.issues (updated_at)
  include (id, repository_id, number, is_pull, closed_at, created_at);

-- A repository that a list is about, and which of its units may be read.
create type :schema.list_scope as (repository_id bigint, owner_id bigint, issues boolean, pulls boolean);
-- Some of the 64 issues of a block.
create type :schema.block_bits as (repository_id bigint, block integer, bits bigint);

-- What somebody may read of all repositories, of one owner or team only when that is given.
create function :schema.search_scope(person bigint, sees_all boolean, public_only boolean, of_owner bigint, of_team bigint)
  returns :schema.list_scope[] language sql stable
as $$
  select coalesce(array_agg(row(u.repository_id, u.owner_id, u.issues, u.pulls):::schema.list_scope), '{}')
  from :schema.readable(person, sees_all, public_only) u
  where (u.issues or u.pulls) and (of_owner is null or u.owner_id = of_owner)
    and (of_team is null or exists (select from :schema.teams t
      where t.id = of_team and t.organization_id = u.owner_id
        and (t.level = 4 or t.includes_all_repositories or exists (select from :schema.team_repositories x
          where x.team_id = t.id and x.repository_id = u.repository_id))))
$$;

-- Finds a phrase in all texts. Without the extension the texts that have its words are read one by one.
do $$
declare
  home text;
begin
  select n.nspname into home from pg_extension e join pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'pg_trgm';
  if home is not null then
    execute format('create index comments_trgm on :schema.comments using gin (:schema.fold(body) %I.gin_trgm_ops)
      where kind = ''comment''', home);
    execute format('create index issues_title_trgm on :schema.issues using gin (:schema.fold(title) %I.gin_trgm_ops)', home);
    execute format('create index issues_body_trgm on :schema.issues using gin (:schema.fold(body) %I.gin_trgm_ops)', home);
  end if;
end
$$;

-- What `keyword_hits` finds of a phrase, by those indexes: of all issues, so for lists of many repositories.
create function :schema.phrase_hits(phrase text) returns table (block_id integer, bits bigint)
  language plpgsql stable set plan_cache_mode to force_custom_plan
as $$
declare
  part text := '%' || replace(replace(replace(:schema.fold(phrase), '\', '\\'), '%', '\%'), '_', '\_') || '%';
begin
  return query
    select b.id, bit_or(1::bigint << (i.number & 63))
    from (
      select x.id from :schema.issues x where :schema.fold(x.title) like part
      union
      select x.id from :schema.issues x where :schema.fold(x.body) like part
      union
      select c.issue_id from :schema.comments c where c.kind = 'comment' and :schema.fold(c.body) like part
    ) h join :schema.issues i using (id)
      join :schema.issue_blocks b on b.repository_id = i.repository_id and b.block = i.number >> 6
    group by b.id;
end
$$;

-- What issues have one of some words. For most blocks it is quicker to take all, so others may be among them.
create function :schema.word_hits(words integer[], blocks integer[]) returns table (block_id integer, bits bigint)
  language plpgsql stable
as $$
begin
  if cardinality(blocks) > 500 then
    return query select w.block_id, bit_or(w.bits) from :schema.word_blocks w where w.word_id = any(words) group by w.block_id;
  else
    return query select w.block_id, bit_or(w.bits) from :schema.word_blocks w
      where w.word_id = any(words) and w.block_id = any(blocks) group by w.block_id;
  end if;
end
$$;

-- The issues of a scope that have one of the labels, the keyword and the mention, by their blocks. Labels that exist
-- filter; a keyword that found nothing does, unless such labels are there to filter alone.
create function :schema.matching_bits(
  scope :schema.list_scope[], is_closed boolean, is_pull boolean, labels text[], keyword text, mentioned text
) returns setof :schema.block_bits language plpgsql stable as $$
declare
  blocks integer[] := array(select b.id from unnest(scope) s join :schema.issue_blocks b using (repository_id));
  label_ids bigint[] := array(
    select l.id from :schema.labels l
    where lower(l.name) = any(labels)
      and (l.repository_id in (select s.repository_id from unnest(scope) s)
        or l.organization_id in (select s.owner_id from unnest(scope) s)));
  by_label boolean := cardinality(label_ids) > 0;
  by_keyword boolean := keyword <> '';
  by_mention boolean := mentioned <> '';
  by_phrase boolean := cardinality(scope) > 1 and keyword ~ '[[:alnum:]][^[:alnum:]]+[[:alnum:]]'
    and to_regclass(':schema.comments_trgm') is not null;
begin
  return query
    with own as materialized (
      select b.*, b.present & (case when s.issues then ~b.pulls else 0 end | case when s.pulls then b.pulls else 0 end)
        as readable
      from unnest(scope) s join :schema.issue_blocks b using (repository_id)
    ), labelled as materialized (
      select x.block_id, bit_or(x.bits) as bits from :schema.label_blocks x
      where by_label and x.label_id = any(label_ids) group by x.block_id
    ), found as materialized (
      -- Of what may be read only: that a word was found elsewhere must not show.
      select k.block_id, bit_or(k.bits) as bits
      from (
        select h.block_id, h.bits from :schema.keyword_hits(keyword, blocks) h where by_keyword and not by_phrase
        union all
        select h.block_id, h.bits from :schema.phrase_hits(keyword) h where by_phrase
      ) k join own b on b.id = k.block_id
      where k.bits & b.readable <> 0 group by k.block_id
    ), mentioning as materialized (
      select k.block_id, bit_or(k.bits) as bits from :schema.keyword_hits('@' || mentioned, blocks) k
      where by_mention group by k.block_id
    )
    select * from (
      select b.repository_id, b.block, b.readable
        & case is_closed when true then b.closed when false then ~b.closed else -1 end
        & case is_pull when true then b.pulls when false then ~b.pulls else -1 end
        & case when by_label then coalesce(l.bits, 0) else -1 end
        & case when by_keyword and (not by_label or exists (select from found)) then coalesce(f.bits, 0) else -1 end
        & case when by_mention then coalesce(m.bits, 0) else -1 end as bits
      from own b left join labelled l on l.block_id = b.id left join found f on f.block_id = b.id
        left join mentioning m on m.block_id = b.id) b
    where b.bits <> 0;
end
$$;

-- A page of what a list leaves that filters by more than bits tell: everything that passes is looked up, by the index of
-- the rarest filter. Planned each time, with the values: which that is differs.
create function :schema.find_narrow(
  scope :schema.list_scope[], by_bits boolean, matching :schema.block_bits[], is_closed boolean, only_pulls boolean,
  milestones text[], since timestamptz, before timestamptz, creator bigint, assignee bigint, mentioned text,
  priority bigint, size integer, skip integer
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
        and (mentioned = '' or :schema.mentions(i.id, mentioned))
    )
    select (select count(*) from picked), array(
      select p.id from picked p order by p.has_priority desc, p.created_at desc, p.id desc limit size offset skip);
end
$$;

-- A page of issues, newest first, those of one repository before the others, and how many there are in all. `linked`
-- counts the issues of the scope, whatever the other filters leave of them.
create function :schema.find_issues(
  scope :schema.list_scope[], state text, kind text, labels text[], keyword text, mentioned text,
  milestones text[], since timestamptz, before timestamptz, creator bigint, assignee bigint,
  priority bigint, size integer, skip integer
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
  if mentioned <> '' or num_nonnulls(milestones, since, before, creator, assignee) > 0 then
    return query select n.total, find_issues.linked, n.ids from :schema.find_narrow(scope, by_bits, matching, is_closed,
      only_pulls, milestones, since, before, creator, assignee, mentioned, priority, size, skip) n;
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

-- The accounts that answers name beside these issues.
create function :schema.people_around(issues bigint[]) returns jsonb language sql stable
as $$
  select jsonb_agg(to_jsonb(u)) from :schema.users u where u.id in (
    select i.poster_id from :schema.issues i where i.id = any(issues)
    union all
    select a.user_id from :schema.issue_assignees a where a.issue_id = any(issues))
$$;
