import { type Tx } from '@croft/sql';
import type { ProtectionOptions } from '../../protections/protection-options.ts';
import type { Tables } from '../../tables.gen.ts';

/** A protection of branches. */
export type BranchProtectionRow = Tables['branch_protections'] & { options: ProtectionOptions };

/** All protections of a repository, in the order of their priority. */
export function list(tx: Tx, repositoryId: number): Promise<BranchProtectionRow[]> {
  return tx.rows<BranchProtectionRow>`
    select * from :schema.branch_protections where repository_id = ${repositoryId} order by priority, id`;
}

/** Somebody as protections see him: with the teams of the repository's owner that he is in. */
export async function findPusher(
  tx: Tx,
  userId: number,
  ownerId: number,
  mayWrite: boolean,
): Promise<{ userId: number; teamIds: number[]; mayWrite: boolean }> {
  const teams = await tx.rows<{ id: number }>`
    select t.id from :schema.teams t join :schema.team_members m on m.team_id = t.id
    where m.user_id = ${userId} and t.organization_id = ${ownerId}`;
  return { userId, teamIds: teams.map(({ id }) => id), mayWrite };
}

/** The protection with exactly this name. */
export function findByName(
  tx: Tx,
  repositoryId: number,
  ruleName: string,
): Promise<BranchProtectionRow | undefined> {
  return tx.row<BranchProtectionRow>`
    select * from :schema.branch_protections where repository_id = ${repositoryId} and rule_name = ${ruleName}`;
}

/** How many a repository has. */
export async function count(tx: Tx, repositoryId: number): Promise<number> {
  const row = await tx.row<{ count: number }>`
    select count(*)::integer as count from :schema.branch_protections where repository_id = ${repositoryId}`;
  return row?.count ?? 0;
}

/** Adds a protection, at the end unless a priority says otherwise; undefined when there is one of its name. */
export function insert(
  tx: Tx,
  repositoryId: number,
  wanted: { ruleName: string; priority: number | null; options: ProtectionOptions },
): Promise<BranchProtectionRow | undefined> {
  return tx.row<BranchProtectionRow>`
    insert into :schema.branch_protections (repository_id, rule_name, priority, options, created_at, updated_at)
    select r.id, ${wanted.ruleName}, coalesce(${wanted.priority}::integer, (
        select least(coalesce(max(p.priority), 0), 2147483646) + 1 from :schema.branch_protections p
        where p.repository_id = r.id)),
      ${JSON.stringify(wanted.options)}::jsonb, ${tx.now}::timestamptz, ${tx.now}::timestamptz
    from :schema.repositories r where r.id = ${repositoryId} for key share
    on conflict (repository_id, rule_name) do nothing returning *`;
}

/** Changes the options that are given, and the priority if it is. */
export function update(
  tx: Tx,
  id: number,
  change: { priority: number | null; options: Partial<ProtectionOptions> },
): Promise<BranchProtectionRow | undefined> {
  return tx.row<BranchProtectionRow>`
    update :schema.branch_protections set options = options || ${JSON.stringify(change.options)}::jsonb,
      priority = coalesce(${change.priority}::integer, priority), updated_at = ${tx.now}
    where id = ${id} returning *`;
}

/** Gives protections of a repository the priorities 1, 2, … in an order; returns how many there were. */
export function reorder(tx: Tx, repositoryId: number, ids: readonly number[]): Promise<number> {
  return tx.run`
    update :schema.branch_protections p set priority = o.place, updated_at = ${tx.now}
    from unnest(${ids}::bigint[]) with ordinality as o (id, place)
    where p.id = o.id and p.repository_id = ${repositoryId}`;
}

/** Lifts a protection. */
export async function remove(tx: Tx, id: number): Promise<void> {
  await tx.run`delete from :schema.branch_protections where id = ${id}`;
}

/** Names of teams that protections of a repository list; those of an owner that it had before are nobody's business any more. */
export function listTeamNames(
  tx: Tx,
  repositoryId: number,
  ids: readonly number[],
): Promise<{ id: number; name: string }[]> {
  return tx.rows<{ id: number; name: string }>`
    select t.id, t.name from :schema.teams t join :schema.repositories r on r.owner_id = t.organization_id
    where r.id = ${repositoryId} and t.id = any(${ids}::bigint[])`;
}
