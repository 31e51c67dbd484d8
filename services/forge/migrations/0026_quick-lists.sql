-- Lists and searches that cost less: what stands around issues is made as `json`, which is written at once where `jsonb` is
-- built first, bits are joined by hash instead of being grouped, and words are found by statements that show their pattern.

-- What answers tell of an issue besides its row.
drop view :schema.issue_surroundings;
create view :schema.issue_surroundings as
  select i.id as issue_id, p.id as pull_id, p.merged_at,
    coalesce((select json_agg(json_build_object('id', l.id, 'name', l.name, 'color', l.color,
        'description', l.description, 'exclusive', l.exclusive, 'organization_id', l.organization_id,
        'is_archived', l.archived_at is not null) order by lower(l.name), l.id)
      from :schema.issue_labels x join :schema.labels l on l.id = x.label_id where x.issue_id = i.id),
      '[]'::json) as labels,
    (select to_json(m) from :schema.milestones m where m.id = i.milestone_id) as milestone,
    coalesce((select json_agg(a.user_id order by a.position, a.user_id) from :schema.issue_assignees a
      where a.issue_id = i.id), '[]'::json) as assignee_ids,
    coalesce((select json_agg(to_json(f) order by f.id) from :schema.attachments f
      where f.issue_id = i.id and f.comment_id is null and f.stored), '[]'::json) as attachments
  from :schema.issues i left join :schema.pulls p on p.issue_id = i.id;

-- The accounts that answers name beside these issues.
drop function :schema.people_around;
create function :schema.people_around(issues bigint[]) returns json language sql stable
as $$
  select json_agg(to_json(u)) from :schema.users u where u.id in (
    select i.poster_id from :schema.issues i where i.id = any(issues)
    union all
    select a.user_id from :schema.issue_assignees a where a.issue_id = any(issues))
$$;

-- The words that have a piece in them, or begin or end with it, or are it. With the pattern in the statement, as only then
-- the planner sees whether it has a beginning, and whether it is long enough for trigrams.
create function :schema.words_with(piece text, opens boolean, closes boolean) returns integer[]
  language plpgsql stable
as $$
declare
  found integer[];
begin
  execute format('select array(select id from :schema.search_words where word %s %L)',
    case when opens or closes then 'like' else '=' end,
    -- A piece has letters and digits only.
    case when opens then '%' else '' end || piece || case when closes then '%' else '' end) into found;
  return found;
end
$$;

-- What issues have one of some words. For most blocks it is quicker to take all, so others may be among them; null is all.
create or replace function :schema.word_hits(words integer[], blocks integer[]) returns table (block_id integer, bits bigint)
  language plpgsql stable
as $$
begin
  if cardinality(blocks) <= 500 then
    return query select w.block_id, bit_or(w.bits) from :schema.word_blocks w
      where w.word_id = any(words) and w.block_id = any(blocks) group by w.block_id;
  else
    return query select w.block_id, bit_or(w.bits) from :schema.word_blocks w where w.word_id = any(words) group by w.block_id;
  end if;
end
$$;

-- Issues in some blocks, or with null in all, whose title, body or a comment contain a text, whatever its case. `null` is for
-- lists of many repositories: it is quicker to take what all of them have.
create or replace function :schema.keyword_hits(keyword text, blocks integer[])
  returns table (block_id integer, bits bigint)
  -- A part that is in hundreds of words brings rows that are to be sorted without a file. Other processes would have their
  -- part done when it is nearly over, and take the processors from other searches.
  language plpgsql stable called on null input set work_mem to '64MB' set max_parallel_workers_per_gather to 0
as $$
#variable_conflict use_column
declare
  folded text := :schema.fold(keyword);
  pieces text[] := :schema.split_words(keyword);
  part text := '%' || replace(replace(replace(folded, '\', '\\'), '%', '\%'), '_', '\_') || '%';
  plain boolean := pieces = array[folded];
  words integer[] := '{}';
  unread integer := (select id from :schema.search_words where word = '');
  outdated integer := (select id from :schema.search_words where word = ' ');
  candidates integer[];
  candidate_bits bigint[];
  many boolean;
begin
  -- A number is also the number of an issue.
  if keyword ~ '^#?[0-9]{1,9}$' then
    return query
      select b.id, b.present & (1::bigint << (ltrim(keyword, '#')::integer & 63)) from :schema.issue_blocks b
      where b.block = ltrim(keyword, '#')::integer >> 6 and (blocks is null or b.id = any(blocks));
  end if;
  if plain then
    words := :schema.words_with(folded, true, true);
    return query
      select h.block_id, h.bits & ~coalesce((select o.bits from :schema.word_blocks o
        where o.word_id = outdated and o.block_id = h.block_id), 0)
      from :schema.word_hits(words, blocks) h;
    if unread is null and outdated is null then
      return;
    end if;
  end if;
  -- What the words alone do not decide is read.
  select array_agg(c.block_id), array_agg(c.bits), sum(bit_count(c.bits::bit(64))) > case when blocks is null then 2000 else 10000 end
    into candidates, candidate_bits, many
  from (
    select n.block_id, bit_or(n.bits) as bits
    from (
      select each.block_id, bit_and(each.bits) as bits
      -- Words in the middle are whole, the first may be the end of one and the last the beginning.
      from unnest(pieces) with ordinality as p (piece, place) cross join lateral :schema.word_hits(:schema.words_with(
          p.piece, p.place = 1 and starts_with(folded, p.piece),
          p.place = cardinality(pieces) and right(folded, length(p.piece)) = p.piece), blocks) each
      where not plain
      group by each.block_id having count(*) = cardinality(pieces)
      union all
      select w.block_id, w.bits from :schema.word_blocks w where w.word_id = unread
      union all
      select o.block_id, o.bits & w.bits from :schema.word_blocks o join :schema.word_hits(words, blocks) w using (block_id)
      where o.word_id = outdated
      union all
      select b.id, b.present from :schema.issue_blocks b where not plain and cardinality(pieces) = 0
    ) n
    where n.bits <> 0 and (blocks is null or n.block_id = any(blocks)) group by n.block_id
  ) c;
  -- So many are found by the trigrams of the texts, which have no blocks.
  if many and keyword ~ '[[:alnum:]][^[:alnum:]]+[[:alnum:]]'
    and to_regclass(':schema.comments_trgm') is not null then
    return query select h.block_id, h.bits from :schema.phrase_hits(keyword) h;
    return;
  end if;
  return query
    select c.id, bit_or(1::bigint << (i.number & 63))
    from unnest(candidates, candidate_bits) c (id, bits) join :schema.issue_blocks b on b.id = c.id
      join :schema.issues i on i.repository_id = b.repository_id
        and i.number between b.block * 64 and b.block * 64 + 63
    where (c.bits >> (i.number & 63)) & 1 = 1
      and (:schema.fold(i.title) like part or :schema.fold(i.body) like part
        -- With a limit, as otherwise the comments of all issues might be read at once to look these up among them.
        or (select true from :schema.comments m
          where m.issue_id = i.id and m.kind = 'comment' and :schema.fold(m.body) like part limit 1))
    group by c.id;
end
$$;

-- With the bits, as `word_blocks`.
alter table :schema.label_blocks drop constraint label_blocks_pkey,
  add primary key (label_id, block_id) include (bits);

drop function :schema.find_issues, :schema.find_narrow, :schema.page_of_bits, :schema.matching_bits;

-- The name of a block beyond its repository, in one number.
create function :schema.home_of(repository_id bigint, block integer) returns bigint
  language sql immutable parallel safe as $$ select repository_id << 25 | block $$;

-- Some of the 64 issues of many blocks.
create type :schema.hits as (blocks integer[], bits bigint[]);

-- The issues of a scope that are in all of some sets, by their blocks, and how many they are; a set that is null is none.
-- By hash, however many the planner takes them to be: else it may go through a whole set for each block.
create function :schema.join_bits(
  scope :schema.list_scope[], is_closed boolean, is_pull boolean, label_ids bigint[], worded :schema.hits,
  naming :schema.hits, changed :schema.hits, unchanged :schema.hits, out homes bigint[], out bits bigint[], out total bigint
) language plpgsql stable set enable_nestloop to off set enable_mergejoin to off as $$
begin
  select array_agg(m.home), array_agg(m.bits), coalesce(sum(bit_count(m.bits::bit(64))), 0) into homes, bits, total
  from (
    select :schema.home_of(b.repository_id, b.block) as home,
      b.present & (case when s.issues then ~b.pulls else 0 end | case when s.pulls then b.pulls else 0 end)
        & case is_closed when true then b.closed when false then ~b.closed else -1 end
        & case is_pull when true then b.pulls when false then ~b.pulls else -1 end
        & case when label_ids is null then -1 else coalesce(l.bits, 0) end
        & case when worded is null then -1 else coalesce(f.bits, 0) end
        & case when naming is null then -1 else coalesce(n.bits, 0) end
        & case when changed is null then -1 else coalesce(c.bits, 0) end
        & ~coalesce(u.bits, 0) as bits
    from unnest(scope) s join :schema.issue_blocks b using (repository_id)
      left join (select x.block_id, bit_or(x.bits) as bits from :schema.label_blocks x
        where x.label_id = any(label_ids) group by x.block_id) l on l.block_id = b.id
      left join unnest((worded).blocks, (worded).bits) f (id, bits) on f.id = b.id
      left join unnest((naming).blocks, (naming).bits) n (id, bits) on n.id = b.id
      left join unnest((changed).blocks, (changed).bits) c (id, bits) on c.id = b.id
      left join unnest((unchanged).blocks, (unchanged).bits) u (id, bits) on u.id = b.id
  ) m where m.bits <> 0;
end
$$;

-- The issues of a scope that have one of the labels, the keyword and the mention and changed in the time, by their blocks,
-- and how many they are. Labels that exist filter; a keyword that found nothing does, unless such labels are there to
-- filter alone.
create function :schema.matching_bits(
  scope :schema.list_scope[], is_closed boolean, is_pull boolean, labels text[], keyword text, mentioned text,
  since timestamptz, before timestamptz, out homes bigint[], out bits bigint[], out total bigint
) language plpgsql stable as $$
declare
  label_ids bigint[];
  -- Of few repositories; null for more, where it is quicker to take what is worded in all.
  own integer[] := case when cardinality(scope) <= 20 then array(
    select b.id from unnest(scope) s join :schema.issue_blocks b using (repository_id)) end;
  worded :schema.hits;
  naming :schema.hits;
  changed :schema.hits;
  unchanged :schema.hits;
begin
  if cardinality(labels) > 0 then
    label_ids := nullif(array(
      select l.id from :schema.labels l
      where lower(l.name) = any(labels)
        and (l.repository_id in (select s.repository_id from unnest(scope) s)
          or l.organization_id in (select s.owner_id from unnest(scope) s))), '{}');
  end if;
  if keyword <> '' then
    worded := (select row(coalesce(array_agg(k.block_id), '{}'), coalesce(array_agg(k.bits), '{}')):::schema.hits
      from (select h.block_id, bit_or(h.bits) as bits from :schema.keyword_hits(keyword, own) h group by h.block_id) k);
    -- Of what may be read only: that a word was found elsewhere must not show.
    if label_ids is not null
      and (select j.total from :schema.join_bits(scope, null, null, null, worded, null, null, null) j) = 0 then
      worded := null;
    end if;
  end if;
  if mentioned <> '' then
    naming := (select row(coalesce(array_agg(k.block_id), '{}'), coalesce(array_agg(k.bits), '{}')):::schema.hits
      from (select h.block_id, bit_or(h.bits) as bits from :schema.keyword_hits('@' || mentioned, own) h
        group by h.block_id) k);
  end if;
  -- Of a time with one end the shorter rest is looked up, and what is not in it fits.
  if num_nonnulls(since, before) = 1 and (before is null) = (
    2 * :schema.period_of(coalesce(since, before)) < (select min(period) + max(period) from :schema.period_blocks))
  then
    unchanged := (select row(array_agg(k.block_id), array_agg(k.bits)):::schema.hits
      from (select h.block_id, bit_or(h.bits) as bits
        from :schema.changed_hits(before + interval '1 microsecond', since - interval '1 microsecond', own) h
        group by h.block_id) k);
  elsif num_nonnulls(since, before) > 0 then
    changed := (select row(coalesce(array_agg(k.block_id), '{}'), coalesce(array_agg(k.bits), '{}')):::schema.hits
      from (select h.block_id, bit_or(h.bits) as bits from :schema.changed_hits(since, before, own) h
        group by h.block_id) k);
  end if;
  select j.homes, j.bits, j.total into homes, bits, total
    from :schema.join_bits(scope, is_closed, is_pull, label_ids, worded, naming, changed, unchanged) j;
end
$$;

-- A page of what a list leaves that filters by more than bits tell: everything that passes is looked up, by the index of
-- the rarest filter. Planned each time, with the values: which that is differs.
create function :schema.find_narrow(
  scope :schema.list_scope[], by_bits boolean, homes bigint[], bits bigint[], is_closed boolean, only_pulls boolean,
  milestones text[], since timestamptz, before timestamptz, creator bigint, assignee bigint, mentioned text,
  priority bigint, size integer, skip integer, among bigint[]
) returns table (total bigint, ids bigint[]) language plpgsql stable rows 1 set plan_cache_mode to force_custom_plan as $$
declare
  wanted bigint[] := array(
    select m.id from :schema.milestones m
    where milestones is not null and m.repository_id in (select s.repository_id from unnest(scope) s)
      and (lower(m.title) = any(milestones) or m.id in (
        select one::bigint from unnest(milestones) one where one ~ '^[1-9][0-9]{0,17}$')));
  assigned bigint[] := array(select a.issue_id from :schema.issue_assignees a where a.user_id = assignee);
begin
  return query
    with picked as materialized (
      select i.id, i.created_at, i.repository_id = priority as has_priority
      from :schema.issues i join unnest(scope) s on s.repository_id = i.repository_id
        left join unnest(homes, bits) h (home, bits) on by_bits and h.home = :schema.home_of(i.repository_id, i.number >> 6)
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

-- A page of the issues that some bits stand for: of few repositories, or of many when they are among the `newest` of all.
-- By hash, as `join_bits`.
create function :schema.page_of_bits(
  scope :schema.list_scope[], homes bigint[], bits bigint[], newest bigint, priority bigint, size integer, skip integer
) returns bigint[] language plpgsql stable set enable_nestloop to off set enable_mergejoin to off as $$
declare
  looked_through bigint[] := case when newest is null then array(select s.repository_id from unnest(scope) s)
    else array[priority] end;
begin
  return array(
    select n.id from (
      (select i.id, i.created_at, i.repository_id, i.number from :schema.issues i
        where i.repository_id = any(looked_through))
      union all
      (select * from (
        select i.id, i.created_at, i.repository_id, i.number from :schema.issues i
        order by i.created_at desc, i.id desc limit coalesce(newest, 0)) i where i.repository_id <> priority)
    ) n join unnest(homes, bits) h (home, bits) on h.home = :schema.home_of(n.repository_id, n.number >> 6)
    where (h.bits >> (n.number & 63)) & 1 = 1
    order by n.repository_id = priority desc, n.created_at desc, n.id desc limit size offset skip);
end
$$;

-- A page of the issues of many repositories: those of the one that comes first, then the newest of all, gone through in their
-- order until there are enough. What may be read is asked of a hash; joined, all of them would be sorted.
create function :schema.page_of_newest(
  scope :schema.list_scope[], is_closed boolean, only_pulls boolean, priority bigint, size integer, skip integer
) returns bigint[] language plpgsql stable as $$
declare
  firsts bigint[] := '{}';
  first_issues boolean;
  first_pulls boolean;
begin
  select s.issues, s.pulls into first_issues, first_pulls from unnest(scope) s where s.repository_id = priority;
  if found then
    firsts := array(
      select i.id from :schema.issues i
      where i.repository_id = priority and (is_closed is null or (i.closed_at is not null) = is_closed)
        and case when i.is_pull then first_pulls and only_pulls is not false else first_issues and only_pulls is not true end
      order by i.created_at desc, i.id desc limit skip + size);
  end if;
  return firsts[skip + 1:] || array(
    select i.id from :schema.issues i
    where i.repository_id <> priority and (is_closed is null or (i.closed_at is not null) = is_closed)
      and case when i.is_pull
        then only_pulls is not false and i.repository_id in (select s.repository_id from unnest(scope) s where s.pulls)
        else only_pulls is not true and i.repository_id in (select s.repository_id from unnest(scope) s where s.issues) end
    order by i.created_at desc, i.id desc
    limit greatest(least(size, skip + size - cardinality(firsts)), 0) offset greatest(skip - cardinality(firsts), 0));
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
  -- Whatever changed since a time long ago: there are too many to look up each.
  by_time boolean := before is null and not is_few
    and exists (select from :schema.issues i where i.updated_at >= since order by i.updated_at offset 10000);
  by_bits boolean := keyword <> '' or mentioned <> '' or cardinality(labels) > 0 or by_time;
  homes bigint[];
  bits bigint[];
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
    select m.homes, m.bits, m.total into homes, bits, total
      from :schema.matching_bits(scope, is_closed, only_pulls, labels, keyword, mentioned,
        case when by_time then since end, null) m;
  end if;
  if by_time then
    since := null;
  end if;
  if mentioned <> '' or num_nonnulls(milestones, since, before, creator, assignee, among) > 0 then
    return query select n.total, find_issues.linked, n.ids from :schema.find_narrow(scope, by_bits, homes, bits, is_closed,
      only_pulls, milestones, since, before, creator, assignee, mentioned, priority, size, skip, among) n;
    return;
  end if;
  ids := '{}';
  if total <= skip then
    return next;
    return;
  end if;
  -- So few that looking each up costs less than going through the newest ones until there are enough of them.
  if by_bits and total <= 1000 then
    ids := array(
      select i.id from unnest(homes, bits) h (home, bits)
        -- By bytes first: most of them are empty.
        cross join lateral (select x.byte, h.bits >> 8 * x.byte & 255 as bits from generate_series(0, 7) x (byte)) o
        cross join generate_series(0, 7) g (place)
        join :schema.issues i on i.repository_id = h.home >> 25 and i.number = (h.home & 33554431) * 64 + o.byte * 8 + g.place
      where o.bits <> 0 and o.bits >> g.place & 1 = 1
      order by i.repository_id = priority desc, i.created_at desc, i.id desc limit size offset skip);
    return next;
    return;
  end if;
  if by_bits and is_few then
    ids := :schema.page_of_bits(scope, homes, bits, null, priority, size, skip);
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
  if not by_bits then
    ids := :schema.page_of_newest(scope, is_closed, only_pulls, priority, size, skip);
    return next;
    return;
  end if;
  -- Of many the first ones are among the newest of all; if they are not, everything is looked at.
  everything := greatest(everything, (select c.reltuples::bigint from pg_class c where c.oid = ':schema.issues'::regclass));
  newest := (skip + size + 50) * everything * 5 / 4 / total;
  loop
    ids := :schema.page_of_bits(scope, homes, bits, newest, priority, size, skip);
    exit when newest > everything or cardinality(ids) >= least(size, total - skip);
    newest := newest * 8;
  end loop;
  return next;
end
$$;
