import type { Tx } from '@croft/sql';

/** A repository as far as it is held against its folder. */
export interface ExaminedRepository {
  id: number;
  owner: string;
  name: string;
  state: 'making' | 'ready' | 'removing';
  empty: boolean;
  default_branch: string;
  /** Null as long as nobody has counted. */
  branches: number | null;
}

/** All repositories there are. */
export function listRepositories(tx: Tx): Promise<ExaminedRepository[]> {
  return tx.rows<ExaminedRepository>`
    select r.id, o.login as owner, r.name, r.state, r.empty, r.default_branch, r.branches
    from :schema.repositories r join :schema.users o on o.id = r.owner_id order by r.id`;
}

/** Where the pull requests of a repository stand. */
export function listPulls(
  tx: Tx,
  repositoryId: number,
): Promise<{ number: number; head_sha: string; written_sha: string | null }[]> {
  return tx.rows`
    select i.number, p.head_sha, p.written_sha from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where p.repository_id = ${repositoryId} order by i.number`;
}

/** Tags of the published releases of a repository. */
export async function listReleasedTags(tx: Tx, repositoryId: number): Promise<string[]> {
  const rows = await tx.rows<{ tag_name: string }>`
    select tag_name from :schema.releases
    where repository_id = ${repositoryId} and published_at is not null order by id`;
  return rows.map(({ tag_name: tag }) => tag);
}

/** A counter that is not what it counts. */
export interface WrongCount {
  repository: string;
  counter: string;
  kept: number;
  counted: number;
}

/** Counters of repositories that differ from the rows they count. */
export function listWrongCounts(tx: Tx): Promise<WrongCount[]> {
  return tx.rows<WrongCount>`
    with counted as (
      select r.id, count(i.id) filter (where not i.is_pull) as issues,
        count(i.id) filter (where not i.is_pull and i.closed_at is not null) as closed_issues,
        count(i.id) filter (where i.is_pull) as pulls,
        count(i.id) filter (where i.is_pull and i.closed_at is not null) as closed_pulls
      from :schema.repositories r left join :schema.issues i on i.repository_id = r.id group by r.id
    )
    select o.login || '/' || r.name as repository, x.counter, x.kept::bigint as kept, x.counted::bigint as counted
    from counted c join :schema.repositories r on r.id = c.id join :schema.users o on o.id = r.owner_id
      cross join lateral (values
        ('the number of issues', r.issues, c.issues), ('the number of closed issues', r.closed_issues, c.closed_issues),
        ('the number of pull requests', r.pulls, c.pulls),
        ('the number of closed pull requests', r.closed_pulls, c.closed_pulls),
        ('the number of releases', r.releases, (
          select count(*) from :schema.releases p
          where p.repository_id = r.id and p.published_at is not null))) x (counter, kept, counted)
    where x.kept <> x.counted order by r.id`;
}
