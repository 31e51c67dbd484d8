-- Lists of issues with their exact counts, without reading issues: every issue is a bit. A block holds 64 of the numbers
-- of a repository, which have no gaps; a keyword, a label or a state is then a set of bits, and what a list shows is
-- their intersection. Triggers keep the bits when a transaction commits, so a search finds what was written just before.

-- Letters that differ in case only become the same, also those outside of ASCII where the server can tell.
do $$
begin
  execute 'create function :schema.fold(text) returns text language sql immutable strict parallel safe as '
    || quote_literal(case
      when getdatabaseencoding() = 'UTF8' and exists (select from pg_collation where collname = 'pg_c_utf8')
      then 'select lower(upper($1 collate pg_catalog.pg_c_utf8))' else 'select lower(upper($1))' end);
end
$$;

-- The words of a text, in their order, each as often as it is there.
create function :schema.split_words(text) returns text[] language sql immutable strict parallel safe as
$$ select array_remove(string_to_array(regexp_replace(:schema.fold($1), '[^[:alnum:]]+', ' ', 'g'), ' '), '') $$;

-- What a text is found by: its words. An empty one stands for what is too long for the index, in one word or in all:
-- such a text is read when somebody searches.
create function :schema.index_words(text) returns text[] language sql immutable strict parallel safe as
$$ select case when count(*) > 2000 then array[''] else coalesce(array_agg(word), '{}') end
  from (select distinct case when length(one) > 64 then '' else one end as word
    from unnest(:schema.split_words($1)) as one) as words $$;

-- Blocks have numbers of their own, which the tables below name: there are many rows, so each is short.
create table :schema.issue_blocks (
  id integer generated always as identity primary key,
  repository_id bigint not null references :schema.repositories on delete cascade,
  block integer not null,
  present bigint not null,
  closed bigint not null,
  pulls bigint not null,
  constraint issue_blocks_block_key unique (repository_id, block)
);
create table :schema.label_blocks (
  label_id bigint not null references :schema.labels on delete cascade,
  block_id integer not null references :schema.issue_blocks on delete cascade,
  bits bigint not null,
  primary key (label_id, block_id)
);
create index label_blocks_by_block on :schema.label_blocks (block_id);
create table :schema.search_words (
  id integer generated always as identity primary key,
  word text collate "C" not null,
  constraint search_words_word_key unique (word)
);
-- Issues with a word in title, body or comments: as many rows as there are different words in 64 issues together. Those of
-- a deleted repository stay behind, and no block has their number any more; a foreign key would be asked about each row.
-- `sweep_words` takes them away later.
create table :schema.word_blocks (
  word_id integer not null,
  block_id integer not null,
  bits bigint not null,
  -- With the bits, as the rows of a word lie all over the table.
  primary key (word_id, block_id) include (bits)
);

-- Finds a part of a word. Without the extension all words are looked through.
do $$
begin
  create extension if not exists pg_trgm;
exception
  -- Not installed, not permitted, or made by somebody else at this moment.
  when insufficient_privilege or undefined_file or feature_not_supported or duplicate_object or unique_violation then
    raise notice 'pg_trgm was not created: %', sqlerrm;
end
$$;
do $$
declare
  home text;
begin
  select n.nspname into home from pg_extension e join pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'pg_trgm';
  if home is not null then
    execute format('create index search_words_trgm on :schema.search_words using gin (word %I.gin_trgm_ops)', home);
  end if;
end
$$;

-- Milestones know how many issues they have: lists show that beside every issue.
alter table :schema.milestones
  add column open_issues integer not null default 0,
  add column closed_issues integer not null default 0;

-- The newest issues of all, with what a search sorts out by without looking at them.
drop index :schema.issues_newest_of_all;
create index issues_newest_of_all on :schema.issues (created_at desc, id desc)
  include (repository_id, number, is_pull, closed_at);
create index labels_by_name on :schema.labels (lower(name));

-- What answers tell of an issue besides its row.
create view :schema.issue_surroundings as
  select i.id as issue_id, p.id as pull_id, p.merged_at,
    coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'name', l.name, 'color', l.color,
        'description', l.description, 'exclusive', l.exclusive, 'organization_id', l.organization_id,
        'is_archived', l.archived_at is not null) order by lower(l.name), l.id)
      from :schema.issue_labels x join :schema.labels l on l.id = x.label_id where x.issue_id = i.id),
      '[]'::jsonb) as labels,
    (select to_jsonb(m) from :schema.milestones m where m.id = i.milestone_id) as milestone,
    coalesce((select jsonb_agg(a.user_id order by a.position, a.user_id) from :schema.issue_assignees a
      where a.issue_id = i.id), '[]'::jsonb) as assignee_ids,
    coalesce((select jsonb_agg(to_jsonb(f) order by f.id) from :schema.attachments f
      where f.issue_id = i.id and f.comment_id is null and f.stored), '[]'::jsonb) as attachments
  from :schema.issues i left join :schema.pulls p on p.issue_id = i.id;

-- Issues in some blocks whose title, body or a comment contain a text, whatever its case.
create function :schema.keyword_hits(keyword text, blocks integer[]) returns table (block_id integer, bits bigint)
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
  unread integer := (select id from :schema.search_words where word = '');
begin
  -- A number is also the number of an issue.
  if keyword ~ '^#?[0-9]{1,9}$' then
    return query
      select b.id, b.present & (1::bigint << (ltrim(keyword, '#')::integer & 63)) from :schema.issue_blocks b
      where b.block = ltrim(keyword, '#')::integer >> 6 and b.id = any(blocks);
  end if;
  if plain then
    return query
      select w.block_id, bit_or(w.bits) from :schema.word_blocks w
      where w.word_id = any(array(select id from :schema.search_words where word like part))
        and w.block_id = any(blocks)
      group by w.block_id;
    if unread is null then
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
      from (select p.place, w.block_id, bit_or(w.bits) as bits
          from unnest(patterns) with ordinality as p (pattern, place)
            join :schema.search_words s on s.word like p.pattern join :schema.word_blocks w on w.word_id = s.id
          where w.block_id = any(blocks)
          group by p.place, w.block_id) each
      group by each.block_id having count(*) = cardinality(patterns)
      union all
      select w.block_id, w.bits from :schema.word_blocks w where w.word_id = unread and w.block_id = any(blocks)
      union all
      select b.id, b.present from :schema.issue_blocks b
      where not plain and cardinality(patterns) = 0 and b.id = any(blocks)
    )
    select c.block_id, bit_or(1::bigint << (i.number & 63))
    from candidates c join :schema.issue_blocks b on b.id = c.block_id
      join :schema.issues i on i.repository_id = b.repository_id
        and i.number between b.block * 64 and b.block * 64 + 63
    where (c.bits >> (i.number & 63)) & 1 = 1
      and (:schema.fold(i.title) like part or :schema.fold(i.body) like part
        or exists (select from :schema.comments m
          where m.issue_id = i.id and m.kind = 'comment' and :schema.fold(m.body) like part))
    group by c.block_id;
end
$$;

-- Whether a text of an issue names somebody after an @.
create function :schema.mentions(issue bigint, login text) returns boolean language sql stable
as $$
  select exists (select from (
      select title || E'\n' || body from :schema.issues where id = issue
      union all
      select body from :schema.comments where issue_id = issue and kind = 'comment') t (text)
    where :schema.fold(t.text) ~ ('(^|[^[:alnum:]_.@/-])@' || replace(:schema.fold(login), '.', '\.')
      || '($|[^[:alnum:]_.-]|\.($|[^[:alnum:]_-]))'))
$$;

create function :schema.add_words(to_repository bigint, to_number integer, words text[]) returns void
  language plpgsql
as $$
declare
  bit bigint := 1::bigint << (to_number & 63);
  home integer := (select id from :schema.issue_blocks where repository_id = to_repository and block = to_number >> 6);
begin
  -- Meanwhile no word goes away for want of issues.
  perform pg_advisory_xact_lock_shared(':schema.search_words'::regclass::bigint);
  -- In one order everywhere: who adds the same words at once waits for the other, and nobody in a circle.
  insert into :schema.search_words (word)
    select one from unnest(words) as one
    where not exists (select from :schema.search_words known where known.word = one) order by one collate "C"
    on conflict do nothing;
  insert into :schema.word_blocks as b (word_id, block_id, bits)
    select s.id, home, bit from :schema.search_words s
    where s.word = any(words) and not exists (select from :schema.word_blocks k
      where k.word_id = s.id and k.block_id = home and k.bits & bit <> 0)
    order by s.id
    on conflict (word_id, block_id) do update set bits = b.bits | excluded.bits;
end
$$;

-- Takes words away that an issue had in a text that is gone, unless another text of it has them too.
create function :schema.remove_words(from_issue bigint, from_repository bigint, from_number integer, words text[])
  returns void language plpgsql
as $$
declare
  bit bigint := 1::bigint << (from_number & 63);
  home integer := (select id from :schema.issue_blocks
    where repository_id = from_repository and block = from_number >> 6);
  gone text[];
begin
  if cardinality(words) = 0 then
    return;
  end if;
  gone := array(
    select unnest(words)
    except
    select unnest(:schema.index_words(t.text)) from (
      select title || E'\n' || body from :schema.issues where id = from_issue
      union all
      select body from :schema.comments where issue_id = from_issue and kind = 'comment') t (text));
  with held as (
    select w.word_id from :schema.word_blocks w join :schema.search_words s on s.id = w.word_id
    where s.word = any(gone) and w.block_id = home and w.bits & bit <> 0
    order by w.word_id for update of w)
  update :schema.word_blocks w set bits = w.bits & ~bit from held
  where w.word_id = held.word_id and w.block_id = home;
end
$$;

-- Takes away what is left of deleted issues: their bits, and words that no issue has any more. Some words at a time, from
-- one place in the vocabulary to the next.
-- Returns where to go on; the same place while words are being added, and 0 at the end.
create function :schema.sweep_words(after integer, batch integer) returns integer language plpgsql as $$
declare
  until integer;
begin
  -- Waiting for it would hold up everybody who comes to add words.
  if not pg_try_advisory_xact_lock(':schema.search_words'::regclass::bigint) then
    return after;
  end if;
  until := least(
    (select max(id) from (select id from :schema.search_words where id > after order by id limit batch) s),
    (select max(word_id) from (select word_id from :schema.word_blocks where word_id > after
      order by word_id limit batch) w));
  if until is null then
    return 0;
  end if;
  -- What somebody holds at this moment has its turn the next time.
  with stale as (
    select w.word_id, w.block_id, coalesce(b.present, 0) as present
    from :schema.word_blocks w left join :schema.issue_blocks b on b.id = w.block_id
    where w.word_id > after and w.word_id <= until and w.bits & ~coalesce(b.present, 0) <> 0
    for update of w skip locked)
  update :schema.word_blocks w set bits = w.bits & s.present from stale s
  where w.word_id = s.word_id and w.block_id = s.block_id;
  with void as (
    select word_id, block_id from :schema.word_blocks where word_id > after and word_id <= until and bits = 0
    for update skip locked)
  delete from :schema.word_blocks w using void v where w.word_id = v.word_id and w.block_id = v.block_id;
  delete from :schema.search_words s where s.id > after and s.id <= until
    and not exists (select from :schema.word_blocks w where w.word_id = s.id);
  return until;
end
$$;

-- The triggers below wait for the commit: whatever locks a transaction needs, these come last, and in one order.

create function :schema.count_in_milestone(milestone bigint, opened integer, closed integer) returns void
  language sql
as $$
  update :schema.milestones set open_issues = open_issues + opened, closed_issues = closed_issues + closed
  where id = milestone
$$;

create function :schema.index_issue() returns trigger language plpgsql as $$
declare
  bit bigint;
  in_place boolean;
  was text[];
  words text[];
begin
  if tg_op = 'DELETE' then
    bit := 1::bigint << (old.number & 63);
    update :schema.issue_blocks set present = present & ~bit, closed = closed & ~bit, pulls = pulls & ~bit
      where repository_id = old.repository_id and block = old.number >> 6;
    in_place := found;
    perform :schema.count_in_milestone(old.milestone_id,
      -(old.closed_at is null)::integer, -(old.closed_at is not null)::integer);
    -- Of a repository that goes as a whole the words are left to the sweep, as are those of comments.
    if in_place then
      perform :schema.remove_words(old.id, old.repository_id, old.number,
        :schema.index_words(old.title || E'\n' || old.body));
    end if;
    return null;
  end if;
  bit := 1::bigint << (new.number & 63);
  if tg_op = 'INSERT' then
    insert into :schema.issue_blocks as b (repository_id, block, present, closed, pulls)
      values (new.repository_id, new.number >> 6, bit, case when new.closed_at is null then 0 else bit end,
        case when new.is_pull then bit else 0 end)
      on conflict (repository_id, block) do update set present = b.present | excluded.present,
        closed = b.closed | excluded.closed, pulls = b.pulls | excluded.pulls;
    perform :schema.count_in_milestone(new.milestone_id,
      (new.closed_at is null)::integer, (new.closed_at is not null)::integer);
    perform :schema.add_words(new.repository_id, new.number, :schema.index_words(new.title || E'\n' || new.body));
    return null;
  end if;
  if (new.closed_at is null) <> (old.closed_at is null) then
    update :schema.issue_blocks set closed = case when new.closed_at is null then closed & ~bit else closed | bit end
      where repository_id = new.repository_id and block = new.number >> 6;
  end if;
  if new.milestone_id is distinct from old.milestone_id or (new.closed_at is null) <> (old.closed_at is null) then
    -- The lower id first.
    if new.milestone_id < old.milestone_id then
      perform :schema.count_in_milestone(new.milestone_id,
        (new.closed_at is null)::integer, (new.closed_at is not null)::integer);
    end if;
    perform :schema.count_in_milestone(old.milestone_id,
      -(old.closed_at is null)::integer, -(old.closed_at is not null)::integer);
    if (new.milestone_id < old.milestone_id) is not true then
      perform :schema.count_in_milestone(new.milestone_id,
        (new.closed_at is null)::integer, (new.closed_at is not null)::integer);
    end if;
  end if;
  if new.title <> old.title or new.body <> old.body then
    was := :schema.index_words(old.title || E'\n' || old.body);
    words := :schema.index_words(new.title || E'\n' || new.body);
    perform :schema.add_words(new.repository_id, new.number,
      array(select unnest(words) except select unnest(was)));
    perform :schema.remove_words(new.id, new.repository_id, new.number,
      array(select unnest(was) except select unnest(words)));
  end if;
  return null;
end
$$;
create constraint trigger index_new_issue after insert or delete on :schema.issues
  deferrable initially deferred for each row execute function :schema.index_issue();
create constraint trigger index_changed_issue after update of title, body, closed_at, milestone_id on :schema.issues
  deferrable initially deferred for each row
  when (old.title <> new.title or old.body <> new.body or (old.closed_at is null) <> (new.closed_at is null)
    or old.milestone_id is distinct from new.milestone_id)
  execute function :schema.index_issue();

create function :schema.index_comment() returns trigger language plpgsql as $$
declare
  issue record;
  was text[] := '{}';
  words text[] := '{}';
begin
  -- Held, as one comment's new word may be another's old one.
  select i.id, i.repository_id, i.number into issue from :schema.issues i
    where i.id = case when tg_op = 'DELETE' then old.issue_id else new.issue_id end for no key update;
  -- Not before: a deleted repository takes all of its comments with it.
  if found then
    if tg_op <> 'INSERT' then
      was := :schema.index_words(old.body);
    end if;
    if tg_op <> 'DELETE' then
      words := :schema.index_words(new.body);
    end if;
    perform :schema.add_words(issue.repository_id, issue.number, array(select unnest(words) except select unnest(was)));
    perform :schema.remove_words(issue.id, issue.repository_id, issue.number,
      array(select unnest(was) except select unnest(words)));
  end if;
  return null;
end
$$;
create constraint trigger index_new_comment after insert on :schema.comments
  deferrable initially deferred for each row when (new.kind = 'comment') execute function :schema.index_comment();
create constraint trigger index_changed_comment after update of body on :schema.comments
  deferrable initially deferred for each row when (new.kind = 'comment' and new.body <> old.body)
  execute function :schema.index_comment();
create constraint trigger index_deleted_comment after delete on :schema.comments
  deferrable initially deferred for each row when (old.kind = 'comment') execute function :schema.index_comment();

create function :schema.index_issue_label() returns trigger language plpgsql as $$
declare
  issue record;
  given record := case when tg_op = 'DELETE' then old else new end;
  bit bigint;
begin
  select i.repository_id, i.number into issue from :schema.issues i where i.id = given.issue_id for no key update;
  if not found then
    return null;
  end if;
  bit := 1::bigint << (issue.number & 63);
  -- As it is now: one that came and went in the same transaction is not there.
  if exists (select from :schema.issue_labels x where x.issue_id = given.issue_id and x.label_id = given.label_id) then
    insert into :schema.label_blocks as b (label_id, block_id, bits)
      select given.label_id, k.id, bit from :schema.issue_blocks k
      where k.repository_id = issue.repository_id and k.block = issue.number >> 6
      on conflict (label_id, block_id) do update set bits = b.bits | excluded.bits;
  else
    update :schema.label_blocks b set bits = b.bits & ~bit from :schema.issue_blocks k
      where b.label_id = given.label_id and b.block_id = k.id and k.repository_id = issue.repository_id
        and k.block = issue.number >> 6;
  end if;
  return null;
end
$$;
create constraint trigger index_issue_label after insert or delete on :schema.issue_labels
  deferrable initially deferred for each row execute function :schema.index_issue_label();

-- Everything anew from the texts, for whoever filled the tables past the triggers.
create function :schema.rebuild_issue_search() returns void language plpgsql set work_mem to '256MB' as $$
begin
  truncate :schema.issue_blocks, :schema.label_blocks, :schema.word_blocks, :schema.search_words;
  insert into :schema.issue_blocks (repository_id, block, present, closed, pulls)
    select repository_id, number >> 6, bit_or(1::bigint << (number & 63)),
      bit_or(case when closed_at is null then 0 else 1::bigint << (number & 63) end),
      bit_or(case when is_pull then 1::bigint << (number & 63) else 0 end)
    from :schema.issues group by 1, 2;
  insert into :schema.label_blocks (label_id, block_id, bits)
    select x.label_id, b.id, bit_or(1::bigint << (i.number & 63))
    from :schema.issue_labels x join :schema.issues i on i.id = x.issue_id
      join :schema.issue_blocks b on b.repository_id = i.repository_id and b.block = i.number >> 6 group by 1, 2;
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
select :schema.rebuild_issue_search();
