-- When issues last changed, as bits: for each block and each 30 days those of its issues whose last change was then. Searches
-- of what changed since a time long ago take whole periods from here, and read only the issues of the one at its end.

create function :schema.period_of(timestamptz) returns integer language sql immutable strict parallel safe as
$$ select floor(extract(epoch from $1 - timestamptz '1970-01-01 00:00:00+00') / 2592000)::integer $$;

create function :schema.period_start(integer) returns timestamptz language sql immutable strict parallel safe as
$$ select timestamptz '1970-01-01 00:00:00+00' + $1 * interval '720 hours' $$;

create table :schema.period_blocks (
  block_id integer not null references :schema.issue_blocks on delete cascade,
  period integer not null,
  bits bigint not null,
  primary key (block_id, period) include (bits)
);
create index period_blocks_by_period on :schema.period_blocks (period) include (block_id, bits);

-- With what a list sorts out by without looking at the issues.
drop index :schema.issues_by_milestone;
create index issues_by_milestone on :schema.issues (milestone_id)
  include (id, repository_id, number, is_pull, closed_at, created_at) where milestone_id is not null;
create index milestones_by_title on :schema.milestones (lower(title));

create function :schema.index_issue_period() returns trigger language plpgsql as $$
declare
  bit bigint;
  home integer;
begin
  if tg_op <> 'INSERT' then
    bit := 1::bigint << (old.number & 63);
    home := (select b.id from :schema.issue_blocks b where b.repository_id = old.repository_id and b.block = old.number >> 6);
    update :schema.period_blocks set bits = bits & ~bit
      where block_id = home and period = :schema.period_of(old.updated_at);
  end if;
  if tg_op <> 'DELETE' then
    insert into :schema.period_blocks as p (block_id, period, bits)
      select b.id, :schema.period_of(new.updated_at), 1::bigint << (new.number & 63) from :schema.issue_blocks b
      where b.repository_id = new.repository_id and b.block = new.number >> 6
      on conflict (block_id, period) do update set bits = p.bits | excluded.bits;
  end if;
  return null;
end
$$;
-- Named to come after `index_new_issue`, which makes the block.
create constraint trigger index_new_issue_period after insert or delete on :schema.issues
  deferrable initially deferred for each row execute function :schema.index_issue_period();
create constraint trigger index_changed_issue_period after update of updated_at on :schema.issues
  deferrable initially deferred for each row
  when (:schema.period_of(old.updated_at) <> :schema.period_of(new.updated_at))
  execute function :schema.index_issue_period();

create function :schema.rebuild_periods() returns void language sql as $$
  insert into :schema.period_blocks (block_id, period, bits)
    select b.id, :schema.period_of(i.updated_at), bit_or(1::bigint << (i.number & 63))
    from :schema.issues i join :schema.issue_blocks b on b.repository_id = i.repository_id and b.block = i.number >> 6
    group by 1, 2 order by 1, 2
$$;
select :schema.rebuild_periods();

-- Issues that last changed from one time until another, both included; null is any.
create function :schema.changed_hits(since timestamptz, before timestamptz, blocks integer[])
  returns table (block_id integer, bits bigint)
  language plpgsql stable
as $$
declare
  first integer := :schema.period_of(since);
  last integer := :schema.period_of(before);
begin
  if cardinality(blocks) <= 500 then
    return query select p.block_id, p.bits from :schema.period_blocks p
      where p.block_id = any(blocks) and p.period > coalesce(first, -2147483648) and p.period < coalesce(last, 2147483647);
    return query select p.block_id, 1::bigint << (i.number & 63)
      from :schema.period_blocks p join :schema.issue_blocks b on b.id = p.block_id
        join :schema.issues i on i.repository_id = b.repository_id
          and i.number between b.block * 64 and b.block * 64 + 63 and (p.bits >> (i.number & 63)) & 1 = 1
      where p.block_id = any(blocks) and p.period in (first, last)
        and (since is null or i.updated_at >= since) and (before is null or i.updated_at <= before);
    return;
  end if;
  return query select p.block_id, p.bits from :schema.period_blocks p
    where p.period > coalesce(first, -2147483648) and p.period < coalesce(last, 2147483647);
  return query select b.id, 1::bigint << (i.number & 63)
    from (select first union select last) p (period) join :schema.issues i
        on i.updated_at >= greatest(since, :schema.period_start(p.period))
          and i.updated_at < :schema.period_start(p.period + 1) and (before is null or i.updated_at <= before)
      join :schema.issue_blocks b on b.repository_id = i.repository_id and b.block = i.number >> 6;
end
$$;

drop function :schema.find_issues, :schema.find_narrow, :schema.matching_bits;
drop type :schema.block_bits;

-- The issues of a scope that have one of the labels, the keyword and the mention and changed in the time, by their blocks,
-- and how many they are. Labels that exist filter; a keyword that found nothing does, unless such labels are there to
-- filter alone.
create function :schema.matching_bits(
  scope :schema.list_scope[], is_closed boolean, is_pull boolean, labels text[], keyword text, mentioned text,
  since timestamptz, before timestamptz, out blocks integer[], out bits bigint[], out total bigint
) language plpgsql stable as $$
declare
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
  by_time boolean := num_nonnulls(since, before) > 0;
  -- Of a time with one end the shorter rest is looked up, and what is not in it fits.
  by_rest boolean := num_nonnulls(since, before) = 1 and (before is null) = (
    2 * :schema.period_of(coalesce(since, before)) < (select min(period) + max(period) from :schema.period_blocks));
  readable bigint[];
  found_blocks integer[] := '{}';
  found_bits bigint[] := '{}';
begin
  select array_agg(b.id), array_agg(
      b.present & (case when s.issues then ~b.pulls else 0 end | case when s.pulls then b.pulls else 0 end)),
    array_agg(case is_closed when true then b.closed when false then ~b.closed else -1 end
      & case is_pull when true then b.pulls when false then ~b.pulls else -1 end)
    into blocks, readable, bits
  from unnest(scope) s join :schema.issue_blocks b using (repository_id);
  if by_keyword then
    -- Of what may be read only: that a word was found elsewhere must not show.
    select coalesce(array_agg(k.block_id), '{}'), coalesce(array_agg(k.bits), '{}') into found_blocks, found_bits
    from (
      select h.block_id, h.bits from :schema.keyword_hits(keyword, blocks) h where not by_phrase
      union all
      select h.block_id, h.bits from :schema.phrase_hits(keyword) h where by_phrase
    ) k join unnest(blocks, readable) r (id, bits) on r.id = k.block_id
    where k.bits & r.bits <> 0;
    by_keyword := not by_label or cardinality(found_blocks) > 0;
  end if;
  if by_rest then
    select before + interval '1 microsecond', since - interval '1 microsecond' into since, before;
  end if;
  -- Each part by itself and then together: for joins the planner would have to know how many there are.
  select array_agg(m.id), array_agg(m.bits), coalesce(sum(bit_count(m.bits::bit(64))), 0) into blocks, bits, total
  from (
    select p.id, bit_or(p.bits) filter (where p.part = 0)
      & case when by_label then coalesce(bit_or(p.bits) filter (where p.part = 1), 0) else -1 end
      & case when by_keyword then coalesce(bit_or(p.bits) filter (where p.part = 2), 0) else -1 end
      & case when by_mention then coalesce(bit_or(p.bits) filter (where p.part = 3), 0) else -1 end
      & case when by_rest then ~coalesce(bit_or(p.bits) filter (where p.part = 4), 0)
        when by_time then coalesce(bit_or(p.bits) filter (where p.part = 4), 0) else -1 end as bits
    from (
      select o.id, o.readable & o.bits as bits, 0 as part from unnest(blocks, readable, bits) o (id, readable, bits)
      union all
      select x.block_id, x.bits, 1 from :schema.label_blocks x where by_label and x.label_id = any(label_ids)
      union all
      select f.id, f.bits, 2 from unnest(found_blocks, found_bits) f (id, bits)
      union all
      select k.block_id, k.bits, 3 from :schema.keyword_hits('@' || mentioned, blocks) k where by_mention
      union all
      select c.block_id, c.bits, 4 from :schema.changed_hits(since, before, blocks) c where by_time
    ) p group by p.id
  ) m where m.bits <> 0;
end
$$;

-- A page of what a list leaves that filters by more than bits tell: everything that passes is looked up, by the index of
-- the rarest filter. Planned each time, with the values: which that is differs.
create function :schema.find_narrow(
  scope :schema.list_scope[], by_bits boolean, blocks integer[], bits bigint[], is_closed boolean, only_pulls boolean,
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
    with matching as (
      select b.repository_id, b.block, h.bits
      from unnest(blocks, bits) h (id, bits) join :schema.issue_blocks b on b.id = h.id where by_bits
    ), picked as materialized (
      select i.id, i.created_at, i.repository_id = priority as has_priority
      from :schema.issues i join unnest(scope) s on s.repository_id = i.repository_id
        left join matching h on by_bits and h.repository_id = i.repository_id and h.block = i.number >> 6
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
-- By hash, however many the planner takes them to be: else it may go through all bits for each issue.
create function :schema.page_of_bits(
  scope :schema.list_scope[], blocks integer[], bits bigint[], newest bigint, priority bigint, size integer, skip integer
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
    ) n join (
      select b.repository_id, b.block, h.bits from unnest(blocks, bits) h (id, bits) join :schema.issue_blocks b using (id)
    ) h on h.repository_id = n.repository_id and h.block = n.number >> 6
    where (h.bits >> (n.number & 63)) & 1 = 1
    order by n.repository_id = priority desc, n.created_at desc, n.id desc limit size offset skip);
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
  blocks integer[];
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
    select m.blocks, m.bits, m.total into blocks, bits, total
      from :schema.matching_bits(scope, is_closed, only_pulls, labels, keyword, mentioned,
        case when by_time then since end, null) m;
  end if;
  if by_time then
    since := null;
  end if;
  if mentioned <> '' or num_nonnulls(milestones, since, before, creator, assignee, among) > 0 then
    return query select n.total, find_issues.linked, n.ids from :schema.find_narrow(scope, by_bits, blocks, bits, is_closed,
      only_pulls, milestones, since, before, creator, assignee, mentioned, priority, size, skip, among) n;
    return;
  end if;
  ids := '{}';
  if total <= skip then
    return next;
    return;
  end if;
  if by_bits and total <= 200 then
    ids := array(
      select i.id from unnest(blocks, bits) h (id, bits) join :schema.issue_blocks b on b.id = h.id
        cross join generate_series(0, 63) g (place)
        join :schema.issues i on i.repository_id = b.repository_id and i.number = b.block * 64 + g.place
      where (h.bits >> g.place) & 1 = 1
      order by i.repository_id = priority desc, i.created_at desc, i.id desc limit size offset skip);
    return next;
    return;
  end if;
  if by_bits and is_few then
    ids := :schema.page_of_bits(scope, blocks, bits, null, priority, size, skip);
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
  newest := (skip + size + 50) * everything * 5 / 4 / total;
  loop
    if by_bits then
      ids := :schema.page_of_bits(scope, blocks, bits, newest, priority, size, skip);
    else
      ids := array(
        select n.id from (
          (select i.id, i.created_at, i.repository_id, i.is_pull, i.closed_at from :schema.issues i
            where i.repository_id = priority)
          union all
          (select * from (
            select i.id, i.created_at, i.repository_id, i.is_pull, i.closed_at from :schema.issues i
            order by i.created_at desc, i.id desc limit newest) i where i.repository_id <> priority)
        ) n join unnest(scope) s on s.repository_id = n.repository_id
        where case when n.is_pull then s.pulls and only_pulls is not false else s.issues and only_pulls is not true end
          and (is_closed is null or (n.closed_at is not null) = is_closed)
        order by n.repository_id = priority desc, n.created_at desc, n.id desc limit size offset skip);
    end if;
    exit when newest > everything or cardinality(ids) >= least(size, total - skip);
    newest := newest * 8;
  end loop;
  return next;
end
$$;

-- Everything anew from the rows, for whoever filled the tables past the triggers.
create or replace function :schema.rebuild_issue_search() returns void language plpgsql set work_mem to '256MB' as $$
begin
  truncate :schema.issue_blocks, :schema.label_blocks, :schema.period_blocks, :schema.word_blocks, :schema.search_words;
  insert into :schema.issue_blocks (repository_id, block, present, closed, pulls)
    select repository_id, number >> 6, bit_or(1::bigint << (number & 63)),
      bit_or(case when closed_at is null then 0 else 1::bigint << (number & 63) end),
      bit_or(case when is_pull then 1::bigint << (number & 63) else 0 end)
    from :schema.issues group by 1, 2;
  insert into :schema.label_blocks (label_id, block_id, bits)
    select x.label_id, b.id, bit_or(1::bigint << (i.number & 63))
    from :schema.issue_labels x join :schema.issues i on i.id = x.issue_id
      join :schema.issue_blocks b on b.repository_id = i.repository_id and b.block = i.number >> 6 group by 1, 2;
  perform :schema.rebuild_periods();
  create temporary table words_of_blocks on commit drop as
    select word, b.id as block_id, bit_or(1::bigint << (number & 63)) as bits
    from (
      select i.repository_id, i.number, i.title || E'\n' || i.body as text from :schema.issues i
      union all
      select i.repository_id, i.number, c.body
      from :schema.comments c join :schema.issues i on i.id = c.issue_id where c.kind = 'comment') t
    join :schema.issue_blocks b on b.repository_id = t.repository_id and b.block = t.number >> 6
    -- A short text cannot have too many words, and need not be asked.
    cross join lateral unnest(case when length(text) < 4000 then :schema.split_words(text)
      else :schema.index_words(text) end) as one (given)
    cross join lateral (select case when length(given) > 64 then '' else given end as word) w
    group by 1, 2;
  insert into :schema.search_words (word) select distinct word from words_of_blocks;
  insert into :schema.word_blocks (word_id, block_id, bits)
    select s.id, w.block_id, w.bits from words_of_blocks w join :schema.search_words s using (word) order by 1, 2;
  drop table words_of_blocks;
  update :schema.milestones m set open_issues = c.open, closed_issues = c.closed
    from (select n.id, count(i.id) filter (where i.closed_at is null) as open, count(i.closed_at) as closed
      from :schema.milestones n left join :schema.issues i on i.milestone_id = n.id group by n.id) c
    where c.id = m.id and (m.open_issues, m.closed_issues) is distinct from (c.open, c.closed);
end
$$;

-- Issues in some blocks whose title, body or a comment contain a text, whatever its case. As it was, but each part of a
-- phrase finds its words first: the index by word was read from end to end for the blocks of one repository.
create or replace function :schema.keyword_hits(keyword text, blocks integer[])
  returns table (block_id integer, bits bigint)
  -- A part that is in hundreds of words brings rows that are to be sorted without a file.
  language plpgsql stable strict set work_mem to '64MB'
as $$
#variable_conflict use_column
declare
  folded text := :schema.fold(keyword);
  pieces text[] := :schema.split_words(keyword);
  part text := '%' || replace(replace(replace(folded, '\', '\\'), '%', '\%'), '_', '\_') || '%';
  plain boolean := pieces = array[folded];
  patterns text[] := '{}';
  words integer[] := '{}';
  unread integer := (select id from :schema.search_words where word = '');
  outdated integer := (select id from :schema.search_words where word = ' ');
begin
  -- A number is also the number of an issue.
  if keyword ~ '^#?[0-9]{1,9}$' then
    return query
      select b.id, b.present & (1::bigint << (ltrim(keyword, '#')::integer & 63)) from :schema.issue_blocks b
      where b.block = ltrim(keyword, '#')::integer >> 6 and b.id = any(blocks);
  end if;
  if plain then
    words := array(select id from :schema.search_words where word like part);
    return query
      select h.block_id, h.bits & ~coalesce((select o.bits from :schema.word_blocks o
        where o.word_id = outdated and o.block_id = h.block_id), 0)
      from :schema.word_hits(words, blocks) h;
    if unread is null and outdated is null then
      return;
    end if;
  else
    -- Words in the middle are whole, the first may be the end of one and the last the beginning.
    patterns := array(
      select case when place = 1 and starts_with(folded, piece) then '%' else '' end || piece
        || case when place = cardinality(pieces) and right(folded, length(piece)) = piece then '%' else '' end
      from unnest(pieces) with ordinality as one (piece, place));
  end if;
  -- What the words alone do not decide is read.
  return query
    with candidates as materialized (
      select each.block_id, bit_and(each.bits) as bits
      from unnest(patterns) p (pattern) cross join lateral :schema.word_hits(
          array(select s.id from :schema.search_words s where s.word like p.pattern), blocks) each
      where each.block_id = any(blocks)
      group by each.block_id having count(*) = cardinality(patterns)
      union all
      select w.block_id, w.bits from :schema.word_blocks w where w.word_id = unread and w.block_id = any(blocks)
      union all
      select w.block_id, bit_or(w.bits & o.bits) from :schema.word_blocks o join :schema.word_blocks w using (block_id)
      where o.word_id = outdated and o.block_id = any(blocks) and w.word_id = any(words)
      group by w.block_id
      union all
      select b.id, b.present from :schema.issue_blocks b
      where not plain and cardinality(patterns) = 0 and b.id = any(blocks)
    )
    select c.block_id, bit_or(1::bigint << (i.number & 63))
    from (select all_of.block_id, bit_or(all_of.bits) as bits from candidates all_of group by all_of.block_id) c
      join :schema.issue_blocks b on b.id = c.block_id
      join :schema.issues i on i.repository_id = b.repository_id
        and i.number between b.block * 64 and b.block * 64 + 63
    where (c.bits >> (i.number & 63)) & 1 = 1
      and (:schema.fold(i.title) like part or :schema.fold(i.body) like part
        -- With a limit, as otherwise the comments of all issues might be read at once to look these up among them.
        or (select true from :schema.comments m
          where m.issue_id = i.id and m.kind = 'comment' and :schema.fold(m.body) like part limit 1))
    group by c.block_id;
end
$$;
