import { type Fragment, fragment, type Reader, type Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import { reviveUser, type UserRow } from '../people/users.ts';

/** A repository. */
export type RepositoryRow = Tables['repositories'] & { state: 'making' | 'ready' | 'removing' };

/** A repository with its owner and what one person may do with it. */
export type RepositoryWithAccess = RepositoryRow & {
  owner: UserRow;
  granted_level: number | null;
  granted_code: number | null;
  granted_issues: number | null;
  granted_pulls: number | null;
  is_member: boolean;
};

/**
 * The repository a path names.
 * @param userId who wants to know; 0 is nobody
 */
export async function findByName(
  tx: Reader,
  owner: string,
  name: string,
  userId: number,
): Promise<RepositoryWithAccess | undefined> {
  const row = await tx.row<RepositoryWithAccess>`
    select r.*, to_jsonb(o) as owner, g.level as granted_level, g.code as granted_code, g.issues as granted_issues,
      g.pulls as granted_pulls, g.is_member
    from :schema.repositories r join :schema.users o on o.id = r.owner_id
      cross join lateral :schema.access_of(${userId}, r.id, r.owner_id) g
    where o.login_key = lower(${owner}) and r.name_key = lower(${name}) and r.state = 'ready'`;
  return row && reviveAccess(row);
}

/**
 * The repository that a path led to before it or its owner got another name.
 * @param userId who wants to know; 0 is nobody
 */
export async function findByFormerName(
  tx: Tx,
  owner: string,
  name: string,
  userId: number,
): Promise<RepositoryWithAccess | undefined> {
  const row = await tx.row<RepositoryWithAccess>`
    with owners as (
      select id from :schema.users where login_key = lower(${owner})
      union select user_id from :schema.former_logins where login_key = lower(${owner})
    ), found as (
      select r.id, 0 as rank from owners join :schema.repositories r on r.owner_id = owners.id
      where r.name_key = lower(${name})
      union all
      select f.repository_id, 1 from owners join :schema.former_repository_names f on f.owner_id = owners.id
      where f.name_key = lower(${name})
    )
    select r.*, to_jsonb(o) as owner, g.level as granted_level, g.code as granted_code, g.issues as granted_issues,
      g.pulls as granted_pulls, g.is_member
    from found join :schema.repositories r on r.id = found.id join :schema.users o on o.id = r.owner_id
      cross join lateral :schema.access_of(${userId}, r.id, r.owner_id) g
    where r.state = 'ready' order by found.rank limit 1`;
  return row && reviveAccess(row);
}

/** Repositories by their ids; those that are not ready are missing. */
export function listByIds(tx: Tx, ids: readonly number[], userId: number): Promise<RepositoryWithAccess[]> {
  return listWhere(tx, fragment`r.id = any(${ids}::bigint[])`, userId);
}

/** The same with what they are forks of. */
export function listWithParents(
  tx: Tx,
  ids: readonly number[],
  userId: number,
): Promise<RepositoryWithAccess[]> {
  const wanted = fragment`r.id = any(array(
    select unnest(${ids}::bigint[])
    union select fork_of from :schema.repositories where id = any(${ids}::bigint[])))`;
  return listWhere(tx, wanted, userId);
}

async function listWhere(tx: Tx, wanted: Fragment, userId: number): Promise<RepositoryWithAccess[]> {
  const rows = await tx.rows<RepositoryWithAccess>`
    select r.*, to_jsonb(o) as owner, g.level as granted_level, g.code as granted_code, g.issues as granted_issues,
      g.pulls as granted_pulls, g.is_member
    from :schema.repositories r join :schema.users o on o.id = r.owner_id
      cross join lateral :schema.access_of(${userId}, r.id, r.owner_id) g
    where ${wanted} and r.state = 'ready'`;
  return rows.map(reviveAccess);
}

/** Rows of other statements that select the same. */
export function reviveAccess(row: RepositoryWithAccess): RepositoryWithAccess {
  return { ...row, owner: reviveUser(row.owner) };
}

/** Whether somebody was given the right to write to any unit of a repository. */
export async function maySomeoneWrite(tx: Tx, id: number, userId: number): Promise<boolean> {
  const row = await tx.row`
    select from :schema.grants
    where repository_id = ${id} and user_id = ${userId} and greatest(level, code, issues, pulls) >= 2 limit 1`;
  return row !== undefined;
}

/** Whether somebody was given the right to administrate a repository. */
export async function mayAdministrate(tx: Tx, id: number, userId: number): Promise<boolean> {
  const row = await tx.row`
    select from :schema.grants where repository_id = ${id} and user_id = ${userId} and level >= 3 limit 1`;
  return row !== undefined;
}

/** A repository in whatever state. */
export function findById(tx: Tx, id: number): Promise<RepositoryRow | undefined> {
  return tx.row<RepositoryRow>`select * from :schema.repositories where id = ${id}`;
}

/** Repositories by their ids, as a map. */
export async function mapByIds(tx: Reader, ids: readonly number[]): Promise<Map<number, RepositoryRow>> {
  const rows = await tx.rows<RepositoryRow>`
    select * from :schema.repositories where id = any(${ids}::bigint[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** What a new repository starts with. */
export interface RepositoryDraft {
  ownerId: number;
  name: string;
  description: string;
  website: string;
  private: boolean;
  template: boolean;
  defaultBranch: string;
  forkOf: number | null;
}

/**
 * Announces a repository whose folder is made next; undefined when the name is taken, or when the owner or what is
 * forked is gone.
 */
export function insert(tx: Tx, draft: RepositoryDraft): Promise<RepositoryRow | undefined> {
  return tx.row<RepositoryRow>`
    insert into :schema.repositories
      (owner_id, name, description, website, private, template, default_branch, fork_of, state, created_at, updated_at)
    select o.id, ${draft.name}, ${draft.description}, ${draft.website}, ${draft.private}::boolean,
      ${draft.template}::boolean, ${draft.defaultBranch}, ${draft.forkOf}::bigint, 'making', ${tx.now}::timestamptz,
      ${tx.now}::timestamptz
    from :schema.users o where o.id = ${draft.ownerId} and (${draft.forkOf}::bigint is null or exists (
      select from :schema.repositories f where f.id = ${draft.forkOf}::bigint and f.state = 'ready' for key share))
    for key share
    on conflict (owner_id, name_key) do nothing returning *`;
}

/** The fork of a repository that an owner has. */
export function findFork(tx: Tx, ownerId: number, forkOf: number): Promise<RepositoryRow | undefined> {
  return tx.row<RepositoryRow>`
    select * from :schema.repositories where owner_id = ${ownerId} and fork_of = ${forkOf} and state = 'ready' limit 1`;
}

/**
 * The folder is there; its name no longer leads to a repository that had it before.
 * @param watcherId who watches it from the beginning; null for nobody. The row is as it was before he was counted.
 */
export function markReady(
  tx: Tx,
  id: number,
  { branches, watcherId }: { branches: number; watcherId: number | null },
): Promise<RepositoryRow | undefined> {
  return tx.row<RepositoryRow>`
    with ready as (
      update :schema.repositories set state = 'ready', empty = ${branches === 0}, branches = ${branches}
      where id = ${id} and state = 'making' returning *
    ), freed as (
      delete from :schema.former_repository_names f using ready
      where f.owner_id = ready.owner_id and f.name_key = ready.name_key
    ), watched as (
      insert into :schema.watches (repository_id, user_id, created_at)
      select id, ${watcherId}::bigint, ${tx.now}::timestamptz from ready where ${watcherId}::bigint is not null
    )
    select * from ready`;
}

/** What can be changed of a repository by hand. */
export interface RepositoryChange {
  name: string | null;
  description: string | null;
  website: string | null;
  private: boolean | null;
  template: boolean | null;
  archived: boolean | null;
  defaultBranch: string | null;
  hasIssues: boolean | null;
  hasPulls: boolean | null;
  hasReleases: boolean | null;
  tracksTime: boolean | null;
  onlyContributorsTrackTime: boolean | null;
  hasDependencies: boolean | null;
  allowMerge: boolean | null;
  allowRebase: boolean | null;
  allowRebaseExplicit: boolean | null;
  allowSquash: boolean | null;
  allowFastForwardOnly: boolean | null;
  allowManualMerge: boolean | null;
  defaultMergeStyle: string | null;
  deleteBranchAfterMerge: boolean | null;
  defaultMaintainerEdit: boolean | null;
  allowMergeUpdate: boolean | null;
  allowRebaseUpdate: boolean | null;
  defaultUpdateStyle: string | null;
}

/**
 * Changes what is given; a name that it leaves leads to it, and one that it takes leads to nothing else. Fails on the
 * unique name when the owner has another repository of the new name.
 */
export function update(
  tx: Tx,
  id: number,
  change: { [K in keyof RepositoryChange]?: RepositoryChange[K] | undefined },
): Promise<RepositoryRow | undefined> {
  const { archived = null, name = null } = change;
  return tx.row<RepositoryRow>`
    with before as (
      select id, owner_id, name_key from :schema.repositories where id = ${id} and state = 'ready' for update
    ), former as (
      insert into :schema.former_repository_names (owner_id, name_key, repository_id)
      select owner_id, name_key, id from before where ${name || null}::text is not null and name_key <> lower(${name || null})
      on conflict (owner_id, name_key) do update set repository_id = excluded.repository_id
    ), freed as (
      delete from :schema.former_repository_names f using before b
      where f.owner_id = b.owner_id and f.name_key = lower(${name || null}) and b.name_key <> lower(${name || null})
    )
    update :schema.repositories r set
      name = coalesce(${name || null}, r.name),
      description = coalesce(${change.description ?? null}, r.description),
      website = coalesce(${change.website ?? null}, r.website),
      private = coalesce(${change.private ?? null}, r.private),
      template = coalesce(${change.template ?? null}, r.template),
      archived = coalesce(${archived}, r.archived),
      archived_at = case ${archived}::boolean when true then coalesce(r.archived_at, ${tx.now}) when false then null
        else r.archived_at end,
      default_branch = coalesce(${change.defaultBranch || null}, r.default_branch),
      has_issues = coalesce(${change.hasIssues ?? null}, r.has_issues),
      has_pulls = coalesce(${change.hasPulls ?? null}, r.has_pulls),
      has_releases = coalesce(${change.hasReleases ?? null}, r.has_releases),
      tracks_time = coalesce(${change.tracksTime ?? null}, r.tracks_time),
      only_contributors_track_time = coalesce(${change.onlyContributorsTrackTime ?? null},
        r.only_contributors_track_time),
      has_dependencies = coalesce(${change.hasDependencies ?? null}, r.has_dependencies),
      allow_merge = coalesce(${change.allowMerge ?? null}, r.allow_merge),
      allow_rebase = coalesce(${change.allowRebase ?? null}, r.allow_rebase),
      allow_rebase_explicit = coalesce(${change.allowRebaseExplicit ?? null}, r.allow_rebase_explicit),
      allow_squash = coalesce(${change.allowSquash ?? null}, r.allow_squash),
      allow_fast_forward_only = coalesce(${change.allowFastForwardOnly ?? null}, r.allow_fast_forward_only),
      allow_manual_merge = coalesce(${change.allowManualMerge ?? null}, r.allow_manual_merge),
      default_merge_style = coalesce(${change.defaultMergeStyle || null}, r.default_merge_style),
      delete_branch_after_merge = coalesce(${change.deleteBranchAfterMerge ?? null}, r.delete_branch_after_merge),
      default_maintainer_edit = coalesce(${change.defaultMaintainerEdit ?? null}, r.default_maintainer_edit),
      allow_merge_update = coalesce(${change.allowMergeUpdate ?? null}, r.allow_merge_update),
      allow_rebase_update = coalesce(${change.allowRebaseUpdate ?? null}, r.allow_rebase_update),
      default_update_style = coalesce(${change.defaultUpdateStyle || null}, r.default_update_style),
      updated_at = ${tx.now}
    from before b where r.id = b.id returning r.*`;
}

/**
 * Gives a repository to another owner: what depended on the old one (teams, labels of an organization) goes, and the
 * old path leads to it. Fails on the unique name when the new owner has another repository of its name.
 */
export async function changeOwner(tx: Tx, id: number, from: number, to: number): Promise<boolean> {
  const moved = await tx.row<{ name_key: string }>`
    update :schema.repositories set owner_id = ${to}, updated_at = ${tx.now}
    where id = ${id} and owner_id = ${from} and state = 'ready' returning name_key`;
  if (moved === undefined) return false;
  await tx.run`delete from :schema.collaborators where repository_id = ${id} and user_id = ${to}`;
  await tx.run`delete from :schema.team_repositories where repository_id = ${id}`;
  // Nobody could withdraw them: requests name teams of the owner.
  await tx.run`
    delete from :schema.review_requests q using :schema.pulls p, :schema.teams t
    where p.repository_id = ${id} and q.pull_id = p.id and t.id = q.team_id and t.organization_id <> ${to}`;
  await tx.run`
    delete from :schema.issue_labels l using :schema.issues i, :schema.labels x
    where l.issue_id = i.id and x.id = l.label_id and i.repository_id = ${id} and x.organization_id is not null`;
  await tx.run`
    delete from :schema.former_repository_names where owner_id = ${to} and name_key = ${moved.name_key}`;
  await tx.run`
    insert into :schema.former_repository_names (owner_id, name_key, repository_id)
    values (${from}, ${moved.name_key}, ${id})
    on conflict (owner_id, name_key) do update set repository_id = excluded.repository_id`;
  return true;
}

/** The folder goes next; from now on nobody finds the repository. */
export async function beginRemoval(tx: Tx, id: number): Promise<boolean> {
  return (
    (await tx.run`update :schema.repositories set state = 'removing' where id = ${id} and state = 'ready'`) >
    0
  );
}

/** Repositories whose creation or removal a crash interrupted. */
export function listUnsettled(tx: Tx): Promise<RepositoryRow[]> {
  return tx.rows<RepositoryRow>`select * from :schema.repositories where state <> 'ready' order by id`;
}

/** Forgets a repository and everything in it; returns what it was forked from. */
export async function deleteById(tx: Tx, id: number): Promise<number | undefined> {
  const row = await tx.row<{ fork_of: number | null }>`
    delete from :schema.repositories where id = ${id} returning fork_of`;
  return row?.fork_of ?? undefined;
}

/** What a repository takes on the disk. */
export async function setSize(tx: Tx, id: number, bytes: number): Promise<void> {
  await tx.run`update :schema.repositories set size_bytes = ${bytes} where id = ${id}`;
}

/** Counts the forks that everybody may know of: others are nobody's business. */
export async function countForks(tx: Tx, id: number): Promise<void> {
  await tx.run`
    update :schema.repositories set forks = (
      select count(*) from :schema.repositories f join :schema.users o on o.id = f.owner_id
      where f.fork_of = ${id} and f.state = 'ready' and not f.private and o.visibility = 'public')
    where id = ${id}`;
}

/** Takes over what a push changed. */
export async function updateAfterPush(
  tx: Tx,
  id: number,
  branches: { first?: string | undefined; count?: number } = {},
): Promise<void> {
  await tx.run`
    update :schema.repositories set updated_at = ${tx.now}, empty = false,
      default_branch = case when empty then coalesce(${branches.first ?? null}::text, default_branch) else default_branch end,
      branches = coalesce(${branches.count ?? null}::integer, branches)
    where id = ${id}`;
}

/** Makes a branch the default one where another one is that is known; any other stays. */
export async function setDefaultBranch(tx: Tx, id: number, from: string, to: string): Promise<void> {
  await tx.run`update :schema.repositories set default_branch = ${to} where id = ${id} and default_branch = ${from}`;
}

/** Holds the row until the transaction ends. */
export async function lock(tx: Tx, id: number): Promise<void> {
  await tx.run`select from :schema.repositories where id = ${id} for update`;
}

/** Holds several until the transaction ends; false when one of them is gone or about to go. */
export async function holdReady(tx: Tx, ids: readonly number[]): Promise<boolean> {
  const rows = await tx.rows`
    select from :schema.repositories where id = any(${ids}::bigint[]) and state = 'ready' order by id for no key update`;
  return rows.length === new Set(ids).size;
}

/** Counts issues or pull requests that were closed (+1) or reopened (−1). */
export async function addClosed(tx: Tx, id: number, kind: 'issue' | 'pull', change: 1 | -1): Promise<void> {
  await tx.run`
    update :schema.repositories set
      closed_issues = closed_issues + ${kind === 'issue' ? change : 0}::int,
      closed_pulls = closed_pulls + ${kind === 'pull' ? change : 0}::int
    where id = ${id}`;
}
