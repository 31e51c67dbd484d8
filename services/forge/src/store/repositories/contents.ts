import type { Tx } from '@croft/sql';

/** What is known of a repository's contents without asking git. */
export function find(
  tx: Tx,
  id: number,
): Promise<{ default_branch: string; branches: number | null } | undefined> {
  return tx.row<{ default_branch: string; branches: number | null }>`
    select default_branch, branches from :schema.repositories where id = ${id} and state = 'ready'`;
}

/** Notes what lists show; a count of branches only where there is none, for pushes keep it. */
export async function note(
  tx: Tx,
  id: number,
  { language, licenses, branches }: { language: string; licenses: readonly string[]; branches: number },
): Promise<void> {
  await tx.run`
    update :schema.repositories set language = ${language}, licenses = ${licenses}::text[],
      branches = coalesce(branches, ${branches}::integer)
    where id = ${id}`;
}

/** How many branches a repository has. */
export async function setBranches(tx: Tx, id: number, branches: number): Promise<void> {
  await tx.run`update :schema.repositories set branches = ${branches} where id = ${id}`;
}
