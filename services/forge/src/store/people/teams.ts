import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import type { Viewer } from '../../viewer.ts';
import { reviveUser, type UserRow } from './users.ts';

/** A private team is known to its members and to owners only, others to everybody in the organization. */
export type TeamVisibility = 'public' | 'limited' | 'private';

/** A team. */
export type TeamRow = Tables['teams'] & { visibility: TeamVisibility };

/** A team with its organization, and what its viewer is in both. */
export type TeamWithRole = TeamRow & {
  organization: UserRow;
  /** Highest level of the viewer's teams; null for whoever is in none. */
  role: number | null;
  in_team: boolean;
};

/** What is decided about a team. */
export interface TeamFields {
  name: string;
  description: string;
  /** As the columns have it. */
  access: Pick<TeamRow, 'level' | 'code' | 'issues' | 'pulls'>;
  includesAllRepositories: boolean;
  canCreateRepositories: boolean;
  visibility: TeamVisibility;
}

/** Makes a team; undefined when the organization has one of this name, or is gone. */
export function insert(tx: Tx, organizationId: number, fields: TeamFields): Promise<TeamRow | undefined> {
  const { level, code, issues, pulls } = fields.access;
  return tx.row<TeamRow>`
    insert into :schema.teams (organization_id, name, description, level, code, issues, pulls,
      includes_all_repositories, can_create_repositories, visibility, created_at)
    select o.id, ${fields.name}, ${fields.description}, ${level}::smallint, ${code}::smallint, ${issues}::smallint,
      ${pulls}::smallint, ${fields.includesAllRepositories}::boolean, ${fields.canCreateRepositories}::boolean,
      ${fields.visibility}, ${tx.now}::timestamptz
    from :schema.users o where o.id = ${organizationId} for key share
    on conflict do nothing returning *`;
}

/** A team somebody may know of. */
export async function findVisible(tx: Tx, id: number, viewer: Viewer): Promise<TeamWithRole | undefined> {
  const row = await tx.row<TeamWithRole>`
    select t.*, to_jsonb(o) as organization, m.role, m.in_team
    from :schema.teams t join :schema.users o on o.id = t.organization_id cross join lateral (
      select max(y.level) as role, coalesce(bool_or(y.id = t.id), false) as in_team
      from :schema.team_members x join :schema.teams y on y.id = x.team_id
      where x.user_id = ${viewer.userId} and y.organization_id = o.id
    ) m
    where t.id = ${id}
      and :schema.may_know(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}, o.id, o.visibility)
      and :schema.may_know_team(${viewer.userId}, ${viewer.seesAll}, t)`;
  return row && { ...row, organization: reviveUser(row.organization) };
}

/** A page of teams, and how many there are in all. */
export interface FoundTeams {
  total: number;
  teams: (TeamRow & { organization: UserRow })[];
}

/** Teams of an organization that a member may know of, by a part of their name, or of their description too; owners first. */
export async function listOfOrganization(
  tx: Tx,
  organizationId: number,
  viewer: Viewer,
  filter: { part: string; inDescriptions: boolean },
  page: { limit: number; offset: number },
): Promise<FoundTeams> {
  return reviveTeams(
    await tx.row<FoundTeams>`
    with found as (
      select t.*, to_jsonb(o) as organization, (t.level < 4)::text || t.name_key as place
      from :schema.teams t join :schema.users o on o.id = t.organization_id
      where t.organization_id = ${organizationId}
        and :schema.may_know_team(${viewer.userId}, ${viewer.seesAll}, t) and (position(lower(${filter.part}) in t.name_key) > 0
        or (${filter.inDescriptions} and position(lower(${filter.part}) in lower(t.description)) > 0))
    )
    select (select count(*) from found) as total, coalesce(jsonb_agg(to_jsonb(p) order by p.place), '[]') as teams
    from (select * from found order by place limit ${page.limit} offset ${page.offset}) p`,
  );
}

/** Teams somebody is in, of organizations that his credentials show. */
export async function listOfMember(
  tx: Tx,
  viewer: Viewer,
  page: { limit: number; offset: number },
): Promise<FoundTeams> {
  return reviveTeams(
    await tx.row<FoundTeams>`
    with found as (
      select t.*, to_jsonb(o) as organization
      from :schema.team_members m join :schema.teams t on t.id = m.team_id join :schema.users o on o.id = t.organization_id
      where m.user_id = ${viewer.userId} and (o.visibility = 'public' or not ${viewer.publicOnly}::boolean)
    )
    select (select count(*) from found) as total, coalesce(jsonb_agg(to_jsonb(p) order by p.id), '[]') as teams
    from (select * from found order by id limit ${page.limit} offset ${page.offset}) p`,
  );
}

function reviveTeams(row: FoundTeams | undefined): FoundTeams {
  if (row === undefined) throw new Error('a count returned no row');
  const teams = row.teams.map((team) => ({
    ...team,
    created_at: new Date(team.created_at),
    organization: reviveUser(team.organization),
  }));
  return { total: row.total, teams };
}

/** A team, held against others who change it until the transaction ends. */
export function lockById(tx: Tx, id: number): Promise<TeamRow | undefined> {
  return tx.row<TeamRow>`select * from :schema.teams where id = ${id} for update`;
}

/** Sets everything that is decided about a team; undefined when it is gone. Fails on the unique name when it is taken. */
export function update(tx: Tx, id: number, fields: TeamFields): Promise<TeamRow | undefined> {
  const { level, code, issues, pulls } = fields.access;
  return tx.row<TeamRow>`
    update :schema.teams set name = ${fields.name}, description = ${fields.description}, level = ${level}, code = ${code},
      issues = ${issues}, pulls = ${pulls}, includes_all_repositories = ${fields.includesAllRepositories},
      can_create_repositories = ${fields.canCreateRepositories}, visibility = ${fields.visibility}
    where id = ${id} returning *`;
}

/** Forgets a team, but not the one of the owners. */
export async function remove(tx: Tx, id: number): Promise<boolean> {
  return (await tx.run`delete from :schema.teams where id = ${id} and level < 4`) > 0;
}
