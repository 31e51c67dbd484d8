import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** A label of a repository or an organization. */
export type LabelRow = Tables['labels'];

/** Whose labels: one of the two is set. */
export interface LabelHome {
  repositoryId: number | null;
  organizationId: number | null;
}

/** What somebody decides about a label. */
export interface LabelFields {
  name: string;
  /** Six hexadecimal digits. */
  color: string;
  description: string;
  exclusive: boolean;
  archivedAt: Date | null;
}

/** What issues show of a label. */
export type LabelCard = Pick<
  LabelRow,
  'id' | 'name' | 'color' | 'description' | 'exclusive' | 'organization_id'
> & {
  is_archived: boolean;
};

/** What issues would show of it. */
export const cardOf = ({ archived_at, ...row }: LabelRow): LabelCard => ({
  ...row,
  is_archived: archived_at !== null,
});

/** A page of labels by name, and how many there are. */
export async function list(
  tx: Tx,
  home: LabelHome,
  page: { limit: number; offset: number },
): Promise<{ rows: LabelRow[]; total: number }> {
  const rows = await tx.rows<{ total: number; label: (LabelRow & { total: number }) | null }>`
    with own as (
      select l.* from :schema.labels l
      where l.repository_id = ${home.repositoryId}::bigint or l.organization_id = ${home.organizationId}::bigint)
    select (select count(*) from own) as total, to_jsonb(p) as label
    from (values (1)) as one left join (
      select * from own order by lower(name), id limit ${page.limit} offset ${page.offset}) p on true
    order by lower(p.name), p.id`;
  return {
    total: rows[0]?.total ?? 0,
    rows: rows.flatMap(({ label }) => (label === null ? [] : [reviveLabel(label)])),
  };
}

/** The label with an id, of this home only. */
export function findById(tx: Tx, home: LabelHome, id: number): Promise<LabelRow | undefined> {
  return tx.row<LabelRow>`
    select * from :schema.labels where id = ${id} and (repository_id = ${home.repositoryId}::bigint
      or organization_id = ${home.organizationId}::bigint)`;
}

/** The same, held against other writers until the transaction ends. */
export function lockById(tx: Tx, home: LabelHome, id: number): Promise<LabelRow | undefined> {
  return tx.row<LabelRow>`
    select * from :schema.labels where id = ${id} and (repository_id = ${home.repositoryId}::bigint
      or organization_id = ${home.organizationId}::bigint) for update`;
}

/** Adds a label. */
export async function insert(tx: Tx, home: LabelHome, fields: LabelFields): Promise<LabelRow> {
  const row = await tx.row<LabelRow>`
    insert into :schema.labels (repository_id, organization_id, name, color, description, exclusive, archived_at,
      created_at, updated_at)
    values (${home.repositoryId}, ${home.organizationId}, ${fields.name}, ${fields.color}, ${fields.description},
      ${fields.exclusive}, ${fields.archivedAt}, ${tx.now}, ${tx.now})
    returning *`;
  if (row === undefined) throw new Error('insert returned no row');
  return row;
}

/** Gives a repository the labels of another. */
export async function copy(tx: Tx, from: number, to: number): Promise<void> {
  await tx.run`
    insert into :schema.labels (repository_id, name, color, description, exclusive, archived_at, created_at, updated_at)
    select ${to}::bigint, name, color, description, exclusive, archived_at, ${tx.now}, ${tx.now}
    from :schema.labels where repository_id = ${from} order by id`;
}

/** Writes a changed label; undefined when it is gone. */
export function update(tx: Tx, id: number, fields: LabelFields): Promise<LabelRow | undefined> {
  return tx.row<LabelRow>`
    update :schema.labels set name = ${fields.name}, color = ${fields.color}, description = ${fields.description},
      exclusive = ${fields.exclusive}, archived_at = ${fields.archivedAt}, updated_at = ${tx.now}
    where id = ${id} returning *`;
}

/** Removes a label from its home and all issues; false when there is none. */
export async function deleteById(tx: Tx, home: LabelHome, id: number): Promise<boolean> {
  const count = await tx.run`
    delete from :schema.labels where id = ${id} and (repository_id = ${home.repositoryId}::bigint
      or organization_id = ${home.organizationId}::bigint)`;
  return count > 0;
}

/** Gives labels to an issue and takes others away. */
export async function change(
  tx: Tx,
  issueId: number,
  added: readonly number[],
  removed: readonly number[],
): Promise<void> {
  // A label that was deleted meanwhile is not added.
  await tx.run`
    with gone as (delete from :schema.issue_labels
      where issue_id = ${issueId} and label_id = any(${removed}::bigint[]))
    insert into :schema.issue_labels (issue_id, label_id)
    select ${issueId}, id from :schema.labels where id = any(${added}::bigint[]) order by id for key share
    on conflict do nothing`;
}

/** A label that came as JSON inside another row, where times are texts. */
export function reviveLabel(json: LabelRow): LabelRow {
  return {
    ...json,
    archived_at: json.archived_at === null ? null : new Date(json.archived_at),
    created_at: new Date(json.created_at),
    updated_at: new Date(json.updated_at),
  };
}
