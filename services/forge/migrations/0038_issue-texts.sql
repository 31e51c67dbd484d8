-- What phrases are looked for in, apart from the issues: with every change of a row all of its index entries are written anew,
-- so a counter, a label or a merge cost as many trigrams as the text has. A row for each text, as a title may change alone.
create table :schema.issue_texts (
  issue_id bigint not null references :schema.issues on delete cascade,
  is_title boolean not null,
  -- Folded.
  text text not null,
  primary key (issue_id, is_title)
);

create function :schema.keep_issue_text() returns trigger language plpgsql as $$
begin
  insert into :schema.issue_texts (issue_id, is_title, text)
    select new.id, t.is_title, :schema.fold(t.text)
    from (values (true, old.title, new.title), (false, old.body, new.body)) t (is_title, was, text)
    -- Of a new issue there was nothing.
    where t.was is distinct from t.text
    on conflict (issue_id, is_title) do update set text = excluded.text;
  return null;
end
$$;
create trigger keep_issue_text after insert on :schema.issues
  for each row execute function :schema.keep_issue_text();
create trigger keep_changed_issue_text after update of title, body on :schema.issues
  for each row when (old.title <> new.title or old.body <> new.body) execute function :schema.keep_issue_text();

create function :schema.rebuild_issue_texts() returns void language sql as $$
  insert into :schema.issue_texts (issue_id, is_title, text)
    select i.id, t.is_title, :schema.fold(case when t.is_title then i.title else i.body end)
    from :schema.issues i cross join (values (true), (false)) t (is_title) order by 1, 2
$$;
select :schema.rebuild_issue_texts();

drop index if exists :schema.issues_title_trgm, :schema.issues_body_trgm;
-- Where comments have theirs: without the extension the texts that have the words of a phrase are read one by one.
do $$
declare
  home text;
begin
  select n.nspname into home from pg_extension e join pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'pg_trgm' and to_regclass(':schema.comments_trgm') is not null;
  if home is not null then
    execute format('create index issue_texts_trgm on :schema.issue_texts using gin (text %I.gin_trgm_ops)', home);
  end if;
end
$$;

-- As it was, with the texts from there.
create or replace function :schema.phrase_hits(phrase text) returns table (block_id integer, bits bigint)
  language plpgsql stable set plan_cache_mode to force_custom_plan
as $$
declare
  part text := '%' || replace(replace(replace(:schema.fold(phrase), '\', '\\'), '%', '\%'), '_', '\_') || '%';
begin
  return query
    select b.id, bit_or(1::bigint << (i.number & 63))
    from (
      select t.issue_id as id from :schema.issue_texts t where t.text like part
      union
      select c.issue_id from :schema.comments c where c.kind = 'comment' and :schema.fold(c.body) like part
    ) h join :schema.issues i using (id)
      join :schema.issue_blocks b on b.repository_id = i.repository_id and b.block = i.number >> 6
    group by b.id;
end
$$;

-- Issues in some blocks, or with null in all, whose title, body or a comment contain a text, whatever its case. As it was,
-- but of issues the folded texts are read, and by `position`: a megabyte took 20 ms, now 1 to 3.
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
      -- With limits, as otherwise the texts of all issues might be read at once to look these up among them.
      and ((select true from :schema.issue_texts t where t.issue_id = i.id and position(folded in t.text) > 0 limit 1)
        or (select true from :schema.comments m
          where m.issue_id = i.id and m.kind = 'comment' and position(folded in :schema.fold(m.body)) > 0 limit 1))
    group by c.id;
end
$$;

-- Everything anew, these texts as well.
alter function :schema.rebuild_issue_search() rename to rebuild_issue_bits;
create function :schema.rebuild_issue_search() returns void language plpgsql as $$
begin
  truncate :schema.issue_texts;
  perform :schema.rebuild_issue_texts();
  perform :schema.rebuild_issue_bits();
end
$$;
