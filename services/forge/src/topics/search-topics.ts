import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { viewerOf } from '../rules/access/permission.ts';
import * as topics from '../store/repositories/topics.ts';
import { wireTime } from '../wire-time.ts';

/** A page of the topics with a part in their name, counted as far as the caller may know of their repositories. */
export async function searchTopics(
  context: Context,
  caller: Caller | undefined,
  query: { q?: string | undefined; page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const page = pageOf(context, query);
  const tx = context.database.autocommit();
  const { total, rows } = await topics.search(tx, viewerOf(caller), (query.q ?? '').trim(), page);
  const items = rows.map((topic) => ({
    id: topic.id,
    topic_name: topic.topic,
    repo_count: topic.repositories,
    created: wireTime(topic.created_at),
    updated: wireTime(topic.updated_at),
  }));
  return { page, total, items };
}
