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
  id: number;
  topic: string;
  repositories: number;
  created_at: Date;
  updated_at: Date;
  total: number;
}

/** Topics with a part in their name, of repositories that the viewer may know of; the most used first. */
export function search(
  tx: Tx,
  viewer: { userId: number; seesAll: boolean; publicOnly: boolean },
  part: string,
  page: { limit: number; offset: number },
): Promise<FoundTopic[]> {
  return tx.rows<FoundTopic>`
    select abs(hashtext(topic))::int as id, topic, count(*) as repositories, min(r.created_at) as created_at,
      max(r.updated_at) as updated_at, count(*) over () as total
    from :schema.visible_repositories(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}) r,
      unnest(r.topics) topic
    where position(lower(${part}) in topic) > 0
    group by topic order by count(*) desc, topic limit ${page.limit} offset ${page.offset}`;
}
