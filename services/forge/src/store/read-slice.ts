import { type Fragment, fragment, type Tx } from '@croft/sql';

/** The part of a list that was asked for, or its beginning where that has too much text. */
export interface Slice<Row> {
  rows: Row[];
  /** Ids of the rest of the part. */
  left: number[];
  /** How many the whole list has; 0 where nobody counted. */
  total: number;
}

/**
 * Reads the rows of a part, at least one and as many as have so much text together; those that are gone are left out.
 * @param found a statement for `total` and `ids`
 * @param source a statement for the rows with their `id`, and their `bytes` of text, of whatever else there is, too
 */
export async function readSlice<Row extends { id: number }>(
  tx: Tx,
  found: Fragment,
  source: Fragment,
  bytes: number,
): Promise<Slice<Row>> {
  const rows = await tx.rows<Row & { list_total: number; left_ids: string[] | null }>`
    select f.total as list_total, c.*,
      case when c.place = max(c.place) over () then f.ids[c.place::integer + 1:] end as left_ids
    from (${found}) f left join lateral (
        select s.*, p.place, sum(s.bytes) over (order by p.place) as text_so_far
        from unnest(f.ids) with ordinality as p (id, place) join (${source}) s on s.id = p.id
      ) c on c.text_so_far <= greatest(${bytes}::bigint, c.bytes)
    order by c.place`;
  return {
    total: rows[0]?.list_total ?? 0,
    left: (rows.at(-1)?.left_ids ?? []).map(Number),
    rows: rows.filter(({ id }) => id !== null),
  };
}

/** What is left of a part. */
export const leftOver = (ids: readonly number[]): Fragment =>
  fragment`select 0 as total, ${ids}::bigint[] as ids`;
