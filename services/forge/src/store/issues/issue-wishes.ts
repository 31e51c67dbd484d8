import type { Tx } from '@croft/sql';
import { reviveUser, type UserRow } from '../people/users.ts';
import { type LabelRow, reviveLabel } from './labels.ts';
import { type MilestoneRow, reviveMilestone } from './milestones.ts';

/** Accounts, labels and a milestone that a request names. */
export interface NamedThings {
  logins: readonly string[];
  labelIds: readonly number[];
  labelNames: readonly string[];
  /** 0 for none. */
  milestoneId: number;
}

/** Those of them that there are; labels and milestone only as far as issues of the repository may have them. */
export interface FoundThings {
  /** `writes`: to any unit of the repository, which it takes to be assigned. */
  users: (UserRow & { writes: boolean })[];
  /** Of the repository, and of its organization. */
  labels: LabelRow[];
  milestone: MilestoneRow | null;
}

/** Looks up what a request names, all in one statement. */
export async function find(
  tx: Tx,
  repository: { id: number; owner_id: number },
  named: NamedThings,
): Promise<FoundThings> {
  const row = await tx.row<FoundThings>`
    select
      coalesce((select jsonb_agg(to_jsonb(u) || jsonb_build_object('writes', u.kind = 'person' and (u.is_admin
          or exists (select from :schema.grants g where g.repository_id = ${repository.id} and g.user_id = u.id
            and greatest(g.level, g.code, g.issues, g.pulls) >= 2))))
        from :schema.users u where u.login_key = any(array(
          select lower(login) from unnest(${named.logins}::text[]) as given (login)))), '[]') as users,
      coalesce((select jsonb_agg(to_jsonb(l) order by l.id) from :schema.labels l
        where (l.repository_id = ${repository.id} or l.organization_id = ${repository.owner_id})
          and (l.id = any(${named.labelIds}::bigint[]) or lower(l.name) = any(array(
            select lower(name) from unnest(${named.labelNames}::text[]) as given (name))))), '[]') as labels,
      (select to_jsonb(m) from :schema.milestones m
        where m.id = ${named.milestoneId} and m.repository_id = ${repository.id}) as milestone`;
  if (row === undefined) throw new Error('select returned no row');
  return {
    users: row.users.map((user) => ({ ...reviveUser(user), writes: user.writes })),
    labels: row.labels.map(reviveLabel),
    milestone: row.milestone && reviveMilestone(row.milestone),
  };
}
