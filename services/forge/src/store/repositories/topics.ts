import type { Tx } from '@croft/sql';

/** Files a repository under other topics. */
export async function replace(tx: Tx, repositoryId: number, topics: readonly string[]): Promise<void> {
  await tx.run`
    update :schema.repositories set topics = ${topics}::text[], updated_at = ${tx.now} where id = ${repositoryId}`;
}

/** Reads and holds the topics of a repository until the transaction ends. */
export async function lock(tx: Tx, repositoryId: number): Promise<string[] | undefined> {
  const row = await tx.row<{ topics: string[] }>`
    select topics from :schema.repositories where id = ${repositoryId} and state = 'ready' for update`;
  return row?.topics;
}

/** A topic and how much somebody may know of it. */
export interface FoundTopic {
  /** A number that stays the same, from 0 to 2147483647. */
  id: number;
  topic: string;
  repositories: number;
  created_at: Date;
  updated_at: Date;
}

/**
 * Topics with a part in their name, of repositories that the viewer may know of, the most used first: a page of them, and how many
 * there are in all.
 */
export async function search(
  tx: Tx,
  viewer: { userId: number; seesAll: boolean; publicOnly: boolean },
  part: string,
  page: { limit: number; offset: number },
): Promise<{ total: number; rows: FoundTopic[] }> {
  const rows = await tx.rows<FoundTopic & { total: number; id: number | null }>`
    with found as materialized (
      select topic, count(*) as repositories, min(r.created_at) as created_at, max(r.updated_at) as updated_at
      from :schema.visible_repositories(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}) r,
        unnest(r.topics) topic
      where position(lower(${part}) in topic) > 0
      group by topic
    )
    select (select count(*) from found) as total, hashtext(p.topic) & 2147483647 as id, p.*
    from (values (1)) as one left join (
      select * from found order by repositories desc, topic limit ${page.limit} offset ${page.offset}) p on true
    order by p.repositories desc, p.topic`;
  // An empty page is one row that has nothing but the total.
  return { total: rows[0]?.total ?? 0, rows: rows.filter(({ id }) => id !== null) };
}
