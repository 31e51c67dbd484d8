import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** What somebody says without words to an issue or a comment. */
export type ReactionRow = Tables['reactions'];

/** What is reacted to: a comment, or with null the issue itself. */
export interface ReactionSubject {
  issueId: number;
  commentId: number | null;
}

/** A page of reactions, oldest first, and how many there are. */
export async function list(
  tx: Tx,
  { issueId, commentId }: ReactionSubject,
  page: { limit: number; offset: number },
): Promise<{ rows: ReactionRow[]; total: number }> {
  const rows = await tx.rows<ReactionRow & { list_total: number }>`
    with found as (
      select * from :schema.reactions
      where issue_id = ${issueId} and comment_id is not distinct from ${commentId}::bigint
    )
    select (select count(*) from found) as list_total, p.*
    from (values (1)) as one left join (
      select * from found order by id limit ${page.limit} offset ${page.offset}) p on true
    order by p.id`;
  return { total: rows[0]?.list_total ?? 0, rows: rows.filter(({ id }) => id !== null) };
}

/** Adds a reaction; undefined when it is there already, or what it belongs to is gone. */
export function insert(
  tx: Tx,
  { issueId, commentId }: ReactionSubject,
  by: { userId: number; content: string; evenLocked: boolean },
): Promise<ReactionRow | undefined> {
  return tx.row<ReactionRow>`
    with comment as (
      select id from :schema.comments
      where id = ${commentId}::bigint and issue_id = ${issueId} for key share
    )
    insert into :schema.reactions (issue_id, comment_id, user_id, content, created_at)
    select i.id, ${commentId}::bigint, ${by.userId}, ${by.content}, ${tx.now} from :schema.issues i
    where i.id = ${issueId} and (i.locked_at is null or ${by.evenLocked}::boolean)
      and (${commentId}::bigint is null or exists (select from comment)) for key share of i
    on conflict do nothing returning *`;
}

/** Somebody's reaction of a kind. */
export function find(
  tx: Tx,
  { issueId, commentId }: ReactionSubject,
  by: { userId: number; content: string },
): Promise<ReactionRow | undefined> {
  return tx.row<ReactionRow>`
    select * from :schema.reactions
    where issue_id = ${issueId} and comment_id is not distinct from ${commentId}::bigint
      and user_id = ${by.userId} and content = ${by.content}`;
}

/** Takes somebody's reaction back. */
export async function remove(
  tx: Tx,
  { issueId, commentId }: ReactionSubject,
  by: { userId: number; content: string },
): Promise<void> {
  await tx.run`
    delete from :schema.reactions
    where issue_id = ${issueId} and comment_id is not distinct from ${commentId}::bigint
      and user_id = ${by.userId} and content = ${by.content}`;
}
