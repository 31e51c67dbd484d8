import { fragment, type Tx } from '@croft/sql';
import type { Approvers } from '../../protections/protection-options.ts';
import type { Viewer } from '../../viewer.ts';
import type { TeamRow } from '../people/teams.ts';
import { reviveUser, type UserRow } from '../people/users.ts';
import { personApproves, teamApproves } from './approvers.ts';

/** Who a request is for. */
export interface Asked {
  reviewerId: number | null;
  teamId: number | null;
  official: boolean;
}

/** Somebody who may be asked for a review, as far as a request goes. */
export interface Askable extends UserRow {
  /** Whether he may read pull requests of the repository. */
  reads: boolean;
  /** Whether he may write to its code. */
  writes: boolean;
  /** Teams of the repository's owner that he is in. */
  team_ids: number[];
}

/** A team that may be asked for a review. */
export interface AskableTeam extends TeamRow {
  /** Pull requests of the repository. */
  reads: boolean;
  /** Code, where it does. */
  writes: boolean;
}

/** Looks up the people and teams of a request; teams only as far as the viewer may know of them. */
export async function findNamed(
  tx: Tx,
  repository: { id: number; owner_id: number },
  viewer: Viewer,
  named: { reviewers: readonly string[]; teams: readonly string[] },
): Promise<{ people: Askable[]; teams: AskableTeam[] }> {
  const row = await tx.row<{ people: Askable[]; teams: AskableTeam[] }>`
    select
      coalesce((select jsonb_agg(to_jsonb(u) || jsonb_build_object(
          'reads', u.kind = 'person' and :schema.may_read_unit(u.id, u.is_admin, false, ${repository.id}, 'pulls'),
          'writes', u.is_admin or exists (select from :schema.grants g
            where g.repository_id = ${repository.id} and g.user_id = u.id and g.code >= 2),
          'team_ids', coalesce((select jsonb_agg(t.id) from :schema.team_members m join :schema.teams t on t.id = m.team_id
            where m.user_id = u.id and t.organization_id = ${repository.owner_id}), '[]')))
        from :schema.users u where u.login_key = any(array(
          select lower(login) from unnest(${named.reviewers}::text[]) as x (login)))
          and (u.kind = 'person'
            or :schema.may_know(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}, u.id, u.visibility))),
        '[]') as people,
      coalesce((select jsonb_agg(to_jsonb(t) || jsonb_build_object(
          'writes', t.level >= 3 or t.code >= 2, 'reads', t.level = 4 or ((t.level >= 3 or t.pulls >= 1)
          and (t.includes_all_repositories or exists (select from :schema.team_repositories x
            where x.team_id = t.id and x.repository_id = ${repository.id})))))
        from :schema.teams t where t.organization_id = ${repository.owner_id} and t.name_key = any(array(
          select lower(name) from unnest(${named.teams}::text[]) as x (name)))
          and :schema.may_know_team(${viewer.userId}, ${viewer.seesAll}, t)), '[]') as teams`;
  if (row === undefined) throw new Error('select returned no row');
  return { teams: row.teams, people: row.people.map((one) => ({ ...one, ...reviveUser(one) })) };
}

/** Asks somebody who is not asked already; the id of the request, undefined when he is. */
export async function add(
  tx: Tx,
  pullId: number,
  asked: Asked,
  requestedBy: number,
): Promise<number | undefined> {
  const row = await tx.row<{ id: number }>`
    insert into :schema.review_requests (pull_id, reviewer_id, team_id, requested_by, official, created_at)
    values (${pullId}, ${asked.reviewerId}::bigint, ${asked.teamId}::bigint, ${requestedBy}, ${asked.official}, ${tx.now})
    on conflict on constraint review_requests_key do nothing returning id`;
  return row?.id;
}

/** Requests are official, or not, as they would be if they were made now, where those approve. */
export async function judge(tx: Tx, pullId: number, approvers: Approvers | undefined): Promise<void> {
  await tx.run`
    update :schema.review_requests q set official = not q.official
    from :schema.pulls p join :schema.repositories r on r.id = p.repository_id
    where p.id = ${pullId} and q.pull_id = p.id and q.official <> (
      (q.reviewer_id is not null and ${personApproves(fragment`q.reviewer_id`, approvers)})
      or ${teamApproves(fragment`q.team_id`, approvers)})`;
}

/** How many are asked to review a pull request. */
export async function count(tx: Tx, pullId: number): Promise<number> {
  const row = await tx.row<{ count: number }>`
    select count(*) from :schema.review_requests where pull_id = ${pullId}`;
  return row?.count ?? 0;
}

/** The requests to somebody or to a team that a pull request has. */
export async function remove(
  tx: Tx,
  pullId: number,
  asked: Pick<Asked, 'reviewerId' | 'teamId'>,
): Promise<boolean> {
  const removed = await tx.run`
    delete from :schema.review_requests
    where pull_id = ${pullId} and (reviewer_id = ${asked.reviewerId}::bigint or team_id = ${asked.teamId}::bigint)`;
  return removed > 0;
}

/** Somebody gave his review, and with a verdict that of his teams. */
export async function fulfil(tx: Tx, pullId: number, reviewerId: number, withTeams: boolean): Promise<void> {
  await tx.run`
    delete from :schema.review_requests
    where pull_id = ${pullId} and (reviewer_id = ${reviewerId} or (${withTeams}::boolean and team_id in (
      select team_id from :schema.team_members where user_id = ${reviewerId})))`;
}
