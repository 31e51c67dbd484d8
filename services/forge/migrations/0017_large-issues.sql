-- Whether a word is gone from an issue shows only in all of its texts: reading them takes up to 0.6 s for a megabyte, so an
-- issue with many long texts could not be edited any more. From a size on an issue keeps its words and has one more, the
-- space, that no text has: it is read when somebody searches for a word it is said to have.

-- Takes words away that an issue had in a text that is gone, unless another text of it has them too.
create or replace function :schema.remove_words(
  from_issue bigint, from_repository bigint, from_number integer, words text[])
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
  -- In bytes, which are known without reading a text.
  if 1000000 < (select octet_length(i.title) + octet_length(i.body) + coalesce((
      select sum(octet_length(c.body)) from :schema.comments c where c.issue_id = i.id and c.kind = 'comment'), 0)
    from :schema.issues i where i.id = from_issue)
  then
    perform :schema.add_words(from_repository, from_number, array[' ']);
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

-- Issues in some blocks whose title, body or a comment contain a text, whatever its case.
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
      from (select p.place, w.block_id, bit_or(w.bits) as bits
          from unnest(patterns) with ordinality as p (pattern, place)
            join :schema.search_words s on s.word like p.pattern join :schema.word_blocks w on w.word_id = s.id
          where w.block_id = any(blocks)
          group by p.place, w.block_id) each
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
        or exists (select from :schema.comments m
          where m.issue_id = i.id and m.kind = 'comment' and :schema.fold(m.body) like part))
    group by c.block_id;
end
$$;
