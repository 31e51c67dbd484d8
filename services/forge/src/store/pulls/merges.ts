import { enqueued, fragment, isUniqueViolation, type Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import type { PullWithIssue } from './pulls.ts';

/** A merge under way: everything that is needed to finish or abandon it after a crash. */
export type MergeRow = Tables['merges'];

/** The same before it begins; the base of most is the branch that moves. */
export type MergeIntent = Omit<MergeRow, 'started_at' | 'stacked_on' | 'made_by'> &
  Partial<Pick<MergeRow, 'stacked_on' | 'made_by'>>;

/**
 * Announces merges, all or none; false when one of the pull requests is no longer open or has another base, or a merge of
 * it is under way.
 */
export async function begin(tx: Tx, merges: readonly MergeIntent[]): Promise<boolean> {
  const inserting = tx.run`
    with wanted as (
      select * from jsonb_to_recordset(${JSON.stringify(merges)}::jsonb) as (pull_id bigint, merged_by bigint,
        base_branch text, base_sha text, head_sha text, merge_base text, commit_sha text, stacked_on text, made_by text)
    ), possible as (
      select w.* from wanted w join :schema.pulls p on p.id = w.pull_id join :schema.issues i on i.id = p.issue_id
      where p.base_branch = coalesce(w.stacked_on, w.base_branch) and p.merged_at is null and i.closed_at is null
        and not exists (select from :schema.merges m where m.pull_id = p.id)
    )
    insert into :schema.merges (pull_id, merged_by, base_branch, base_sha, head_sha, merge_base, commit_sha,
      stacked_on, made_by, started_at)
    select pull_id, merged_by, base_branch, base_sha, head_sha, merge_base, commit_sha, stacked_on, made_by, ${tx.now}
    from possible where (select count(*) from possible) = (select count(*) from wanted)`;
  try {
    return (await inserting) === merges.length;
  } catch (error) {
    // Somebody announced the same one in this moment.
    if (isUniqueViolation(error, 'merges_pkey')) return false;
    throw error;
  }
}

/** What a merge is recorded with. */
interface RecordedAs {
  /** Whether its ref is at the merged head; else the row says so, and the next start writes it. */
  headWritten: boolean;
  at: Date;
  /** Whether it moved its branch: what has that as head is to follow. */
  moves: boolean;
  /** What the outbox gets of it, in this order. */
  told: { topic: string; payloads: readonly object[] };
}

/** What comes of the record of a merge. */
export interface Recorded {
  /** The row of `pushes` that has the open pull requests followed whose head is the branch; null when there are none. */
  reminder: number | null;
}

/**
 * Records a merge whose commit is on the base branch, and ends its intent: merged, in its timeline, closed, counted and told
 * of, in one statement, which also notes that others are to follow the branch, should we crash. Rows are held in the order of
 * edits: issue, pull request, repository. What else was to merge it has no say any more, also not in what becomes of the head
 * branch.
 * @returns undefined when it was merged already, or has another base by now
 */
export async function record(
  tx: Tx,
  pull: Pick<PullWithIssue, 'id' | 'issue_id'>,
  merge: MergeIntent,
  { headWritten, at, moves, told }: RecordedAs,
): Promise<Recorded | undefined> {
  const formerBase = merge.stacked_on ?? null;
  const madeBy = merge.made_by ?? null;
  return await tx.row<Recorded>`
    with held as (select id from :schema.issues where id = ${pull.issue_id} for no key update),
    ended as (delete from :schema.merges where pull_id = ${pull.id}),
    merged as (
      update :schema.pulls p set merged_at = ${at}, merged_by = ${merge.merged_by}, merge_commit_sha = ${merge.commit_sha},
        merge_base = ${merge.merge_base}, head_sha = ${merge.head_sha}, base_branch = ${merge.base_branch},
        written_sha = case when ${headWritten}::boolean then ${merge.head_sha} else written_sha end
      from held
      where p.id = ${pull.id} and p.issue_id = held.id and p.merged_at is null
        and p.base_branch = ${formerBase ?? merge.base_branch}
      returning p.issue_id, p.repository_id
    ),
    unscheduled as (
      delete from :schema.scheduled_merges s using merged
      where s.pull_id = ${pull.id} and ${madeBy}::text is distinct from 'schedule'
    ),
    unqueued as (
      update :schema.merge_queue q set delete_branch = false from merged
      where q.pull_id = ${pull.id} and q.delete_branch and ${madeBy}::text is distinct from 'queue'
    ),
    closed as (
      update :schema.issues i set closed_at = ${tx.now}, updated_at = ${tx.now} from merged
      where i.id = merged.issue_id and i.closed_at is null returning i.repository_id
    ),
    counted as (
      update :schema.repositories r set closed_pulls = closed_pulls + 1 from closed where r.id = closed.repository_id
    ),
    noted as (
      insert into :schema.comments (issue_id, kind, poster_id, body, details, created_at, updated_at)
      select issue_id, kind, ${merge.merged_by}::bigint, '', details, ${tx.now}, ${tx.now}
      from merged cross join (values
        (1, 'change_target_branch', jsonb_build_object('old_ref', ${formerBase}::text, 'new_ref', ${merge.base_branch}::text)),
        (2, 'merge_pull', jsonb_build_object('commit_id', ${merge.commit_sha}::text))) as entries (place, kind, details)
      where kind = 'merge_pull' or ${formerBase}::text is not null order by place
    ),
    told as (${enqueued(
      tx.now,
      fragment`select ${told.topic}::text, payload, '' from merged
        cross join jsonb_array_elements(${JSON.stringify(told.payloads)}::jsonb) with ordinality as all_of_them (payload, place)
        order by place`,
    )}),
    reminding as (
      insert into :schema.pushes (repository_id, actor_id, details, started_at)
      select repository_id, ${merge.merged_by}, '{"moves": []}', ${tx.now} from merged
      where ${moves}::boolean and exists (
        select from :schema.pulls p join :schema.issues i on i.id = p.issue_id
        where p.head_repository_id = merged.repository_id and p.head_branch = ${merge.base_branch}
          and p.merged_at is null and i.closed_at is null)
      returning id
    )
    select (select id from reminding) as reminder from merged`;
}

/** The merge of a pull request that is under way, or was when we crashed. */
export function find(tx: Tx, pullId: number): Promise<MergeRow | undefined> {
  return tx.row<MergeRow>`select * from :schema.merges where pull_id = ${pullId}`;
}

/** All of them. */
export function list(tx: Tx): Promise<MergeRow[]> {
  return tx.rows<MergeRow>`select * from :schema.merges order by started_at`;
}

/** Those into one branch. */
export function listInto(tx: Tx, repositoryId: number, branch: string): Promise<MergeRow[]> {
  return tx.rows<MergeRow>`
    select m.* from :schema.merges m join :schema.pulls p on p.id = m.pull_id
    where p.repository_id = ${repositoryId} and m.base_branch = ${branch} order by m.started_at, m.pull_id`;
}

/** The result of the merge is recorded, or it is given up. */
export async function remove(tx: Tx, pullId: number): Promise<void> {
  await removeAll(tx, [pullId]);
}

/** The same for several. */
export async function removeAll(tx: Tx, pullIds: readonly number[]): Promise<void> {
  await tx.run`delete from :schema.merges where pull_id = any(${pullIds}::bigint[])`;
}
