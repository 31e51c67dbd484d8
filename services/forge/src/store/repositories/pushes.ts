import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import type { FormerRelease } from './releases.ts';

/** A ref that is to move; forty zeros stand for not being there. */
export interface RefMove {
  ref: string;
  before: string;
  after: string;
  /** A head that was rebased because what it stood on was merged: what stands on it follows. */
  restacked?: boolean;
  /**
   * Who answers for the commits it brings besides who moves it: the poster of the pull request that they are of, and null where
   * that is nobody we know. Without it they are the mover's own.
   */
  authorId?: number | null;
}

/** What a push does. */
export interface PushDetails {
  moves: readonly RefMove[];
  /** A branch that gets another name: what names it is to follow, and this goes when it did. */
  renamed?: { from: string; to: string };
  /** A release that is a draft until its tag is there: then it is published, and else what it was before; null is new. */
  publishes?: { releaseId: number; former: FormerRelease | null };
  /** Nothing moves: what follows the branches is to be looked at once more. How often that was said. */
  again?: number;
}

/** A push under way, by git's protocol or by the API. */
export type PushRow = Omit<Tables['pushes'], 'details'> & { details: PushDetails };

/** Announces a push. */
export async function insert(
  tx: Tx,
  push: { repositoryId: number; actorId: number | null; details: PushDetails },
): Promise<PushRow> {
  const row = await tx.row<PushRow>`
    insert into :schema.pushes (repository_id, actor_id, details, started_at)
    values (${push.repositoryId}, ${push.actorId}, ${JSON.stringify(push.details)}::jsonb, ${tx.now}) returning *`;
  if (row === undefined) throw new Error('insert returned no row');
  return row;
}

/** Whether a push that may still be under way is to bring a ref of a repository somewhere, as to nowhere. */
export async function isMoving(
  tx: Tx,
  repositoryId: number,
  move: Pick<RefMove, 'ref' | 'after'>,
): Promise<boolean> {
  const row = await tx.row`
    select from :schema.pushes
    where repository_id = ${repositoryId} and details->'moves' @> ${JSON.stringify([move])}::jsonb limit 1`;
  return row !== undefined;
}

/** Pushes of somebody to a repository that are not recorded yet. */
export function listOf(tx: Tx, repositoryId: number, actorId: number): Promise<PushRow[]> {
  return tx.rows<PushRow>`
    select * from :schema.pushes where repository_id = ${repositoryId} and actor_id = ${actorId} order by id`;
}

/** Has everything that follows a repository's branches looked at once more, in some minutes or at the next start; once is enough. */
export async function lookAgain(tx: Tx, repositoryId: number, actorId: number | null): Promise<void> {
  const details: PushDetails = { moves: [], again: 1 };
  await tx.run`
    with said as (
      -- Whoever looks right now does not take this away with what he has seen.
      update :schema.pushes set details = jsonb_set(details, '{again}', to_jsonb((details->>'again')::bigint + 1))
      where repository_id = ${repositoryId} and details->'again' is not null returning id
    )
    insert into :schema.pushes (repository_id, actor_id, details, started_at)
    select ${repositoryId}, ${actorId}, ${JSON.stringify(details)}::jsonb, ${tx.now} where not exists (select from said)`;
}

/** What was to be looked at again was, unless somebody said so once more meanwhile. */
export async function removeSeen(tx: Tx, { id, details }: PushRow): Promise<void> {
  await tx.run`delete from :schema.pushes where id = ${id} and (details->>'again')::bigint = ${details.again ?? 0}`;
}

/** A branch that went from one commit to another. */
export interface BranchMove {
  branch: string;
  before: string;
  after: string;
}

/**
 * What the push changed is recorded, and where branches that pull requests go into were before it is remembered; false when
 * somebody else did it, or the repository is gone.
 */
export async function conclude(tx: Tx, id: number, moved: readonly BranchMove[]): Promise<boolean> {
  const row = await tx.row`
    with ended as (delete from :schema.pushes where id = ${id} returning repository_id),
    remembered as (
      insert into :schema.base_moves (repository_id, branch, before_sha, after_sha, moved_at)
      select e.repository_id, m.branch, m.before, m.after, ${tx.now}
      from ended e cross join jsonb_to_recordset(${JSON.stringify(moved)}::jsonb) as m (branch text, before text, after text)
      where exists (
        select from :schema.pulls p
        where p.repository_id = e.repository_id and p.base_branch = m.branch and p.merged_at is null)
    )
    select from ended`;
  return row !== undefined;
}

/** Some ended that have nothing to record. */
export async function removeAll(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx.run`delete from :schema.pushes where id = any(${ids}::bigint[])`;
}

/** Pushes that nobody finished, oldest first. */
export function list(tx: Tx): Promise<PushRow[]> {
  return tx.rows<PushRow>`select * from :schema.pushes order by id`;
}

/**
 * Pushes that began some time ago and were not ended, oldest first. What was often looked at again for nothing waits longer each
 * time, up to 64 times as long.
 * @param waitMs how long the others wait
 */
export async function listLeft(tx: Tx, now: Date, waitMs: number): Promise<number[]> {
  const rows = await tx.rows<{ id: number }>`
    select id from :schema.pushes
    where started_at + ${waitMs}::float8 * power(2, least(greatest(coalesce((details->>'again')::bigint, 0) - 2, 0), 6))
      * interval '1 millisecond' < ${now} order by id`;
  return rows.map(({ id }) => id);
}

/** A push that was not ended, to be tried again now; undefined when somebody ended it. The next try has to wait as this one had to. */
export function takeUp(tx: Tx, id: number): Promise<PushRow | undefined> {
  return tx.row<PushRow>`update :schema.pushes set started_at = ${tx.now} where id = ${id} returning *`;
}

/**
 * A branch has another name: pull requests and the default branch name it so. However often this is said it is done once, for by
 * then there may be another branch of the former name.
 */
export async function followRename(
  tx: Tx,
  { id, repository_id: repositoryId }: PushRow,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await tx.run`
    with said as (
      update :schema.pushes set details = details - 'renamed' where id = ${id} and details->'renamed' is not null
      returning id
    ), bases as (
      update :schema.pulls set base_branch = ${to}
      where repository_id = ${repositoryId} and base_branch = ${from} and merged_at is null
        and exists (select from said)
    ), heads as (
      update :schema.pulls set head_branch = ${to}
      where head_repository_id = ${repositoryId} and head_branch = ${from} and merged_at is null
        and exists (select from said)
    ), former as (
      update :schema.base_moves set branch = ${to}
      where repository_id = ${repositoryId} and branch = ${from} and exists (select from said)
    )
    update :schema.repositories set default_branch = ${to}
    where id = ${repositoryId} and default_branch = ${from} and exists (select from said)`;
}
