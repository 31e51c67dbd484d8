import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** A milestone of a repository. */
export type MilestoneRow = Tables['milestones'];

/** What somebody decides about a milestone. */
export interface MilestoneFields {
  title: string;
  description: string;
  dueAt: Date | null;
  closedAt: Date | null;
}

/** A milestone that came as JSON inside another row, where times are texts. */
export function reviveMilestone(json: MilestoneRow): MilestoneRow {
  const time = (value: Date | null) => (value === null ? null : new Date(value));
  return {
    ...json,
    due_at: time(json.due_at),
    closed_at: time(json.closed_at),
    created_at: new Date(json.created_at),
    updated_at: new Date(json.updated_at),
  };
}

/** A page of milestones, the one that is due first before the others, and how many there are. */
export async function list(
  tx: Tx,
  filter: { repositoryId: number; state: 'open' | 'closed' | 'all'; name: string },
  page: { limit: number; offset: number },
): Promise<{ rows: MilestoneRow[]; total: number }> {
  const rows = await tx.rows<{ total: number; milestone: MilestoneRow | null }>`
    with own as (
      select * from :schema.milestones
      where repository_id = ${filter.repositoryId}
        and (${filter.state}::text = 'all' or (closed_at is not null) = (${filter.state}::text = 'closed'))
        and position(:schema.fold(${filter.name}::text) in :schema.fold(title)) > 0)
    select (select count(*) from own) as total, to_jsonb(p) as milestone
    from (values (1)) as one left join (
      select * from own order by due_at, id limit ${page.limit} offset ${page.offset}) p on true
    order by p.due_at, p.id`;
  return {
    total: rows[0]?.total ?? 0,
    rows: rows.flatMap(({ milestone }) => (milestone === null ? [] : [reviveMilestone(milestone)])),
  };
}

/**
 * The milestone a path names: by id, else by its title.
 * @param id 0 for what can only be a title
 */
export function find(
  tx: Tx,
  repositoryId: number,
  wanted: { id: number; title: string },
): Promise<MilestoneRow | undefined> {
  return tx.row<MilestoneRow>`
    select * from :schema.milestones
    where repository_id = ${repositoryId} and (id = ${wanted.id} or title = ${wanted.title})
    order by id = ${wanted.id} desc, id limit 1`;
}

/** A milestone, held against other writers until the transaction ends. */
export function lockById(tx: Tx, id: number): Promise<MilestoneRow | undefined> {
  return tx.row<MilestoneRow>`select * from :schema.milestones where id = ${id} for update`;
}

/** Adds a milestone. */
export async function insert(tx: Tx, repositoryId: number, fields: MilestoneFields): Promise<MilestoneRow> {
  const row = await tx.row<MilestoneRow>`
    insert into :schema.milestones (repository_id, title, description, due_at, closed_at, created_at, updated_at)
    values (${repositoryId}, ${fields.title}, ${fields.description}, ${fields.dueAt}, ${fields.closedAt}, ${tx.now},
      ${tx.now})
    returning *`;
  if (row === undefined) throw new Error('insert returned no row');
  return row;
}

/** Writes a changed milestone; undefined when it is gone. */
export function update(tx: Tx, id: number, fields: MilestoneFields): Promise<MilestoneRow | undefined> {
  return tx.row<MilestoneRow>`
    update :schema.milestones set title = ${fields.title}, description = ${fields.description},
      due_at = ${fields.dueAt}, closed_at = ${fields.closedAt}, updated_at = ${tx.now}
    where id = ${id} returning *`;
}

/** Removes a milestone; its issues stay, without one. */
export async function deleteById(tx: Tx, id: number): Promise<void> {
  await tx.run`delete from :schema.milestones where id = ${id}`;
}
