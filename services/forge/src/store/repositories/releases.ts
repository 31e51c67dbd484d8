import { fragment, type Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import { leftOver, readSlice, type Slice } from '../read-slice.ts';

/** A release of a repository; a draft as long as it was not published. */
export type ReleaseRow = Tables['releases'];

/** What somebody decides about a release. */
export type ReleaseFields = Pick<ReleaseRow, 'tag_name' | 'target' | 'name' | 'body' | 'prerelease'>;

/** What a release was before it was changed; times as in JSON. */
export type FormerRelease = ReleaseFields & { published_at: Date | string | null };

/** Which releases somebody wants to see; undefined is either. */
export interface ReleaseFilter {
  repositoryId: number;
  /** Whether he may see drafts. */
  withDrafts: boolean;
  draft: boolean | undefined;
  prerelease: boolean | undefined;
}

/** A page of releases, newest first, and how many there are. */
export function list(
  tx: Tx,
  filter: ReleaseFilter,
  page: { limit: number; offset: number; bytes: number },
): Promise<Slice<ReleaseRow>> {
  const found = fragment`
    with own as materialized (
      select id, coalesce(published_at, created_at) as at from :schema.releases
      where repository_id = ${filter.repositoryId} and (published_at is not null or ${filter.withDrafts}::boolean)
        and (published_at is null) = coalesce(${filter.draft ?? null}::boolean, published_at is null)
        and prerelease = coalesce(${filter.prerelease ?? null}::boolean, prerelease))
    select (select count(*) from own) as total,
      array(select id from own order by at desc, id desc limit ${page.limit} offset ${page.offset}) as ids`;
  return readSlice(tx, found, releasesFor(filter), page.bytes);
}

/** What is left of a page, without what is gone meanwhile or not to be seen any more. */
export function listLeft(
  tx: Tx,
  filter: Pick<ReleaseFilter, 'withDrafts'>,
  ids: readonly number[],
  bytes: number,
): Promise<Slice<ReleaseRow>> {
  return readSlice(tx, leftOver(ids), releasesFor(filter), bytes);
}

const releasesFor = ({ withDrafts }: Pick<ReleaseFilter, 'withDrafts'>) => fragment`
  select *, octet_length(body) as bytes from :schema.releases
  where published_at is not null or ${withDrafts}::boolean`;

/** A release by its id. */
export function findById(tx: Tx, repositoryId: number, id: number): Promise<ReleaseRow | undefined> {
  return tx.row<ReleaseRow>`
    select * from :schema.releases where id = ${id} and repository_id = ${repositoryId}`;
}

/** The release of a tag, drafts included. */
export function findByTag(tx: Tx, repositoryId: number, tag: string): Promise<ReleaseRow | undefined> {
  return tx.row<ReleaseRow>`
    select * from :schema.releases where repository_id = ${repositoryId} and tag_name = ${tag}`;
}

/** The newest that is neither draft nor announced as not ready yet. */
export function findLatest(tx: Tx, repositoryId: number): Promise<ReleaseRow | undefined> {
  return tx.row<ReleaseRow>`
    select * from :schema.releases
    where repository_id = ${repositoryId} and published_at is not null and not prerelease
    order by coalesce(published_at, created_at) desc, id desc limit 1`;
}

/** Adds a release; undefined when its tag has one. */
export function insert(
  tx: Tx,
  release: ReleaseFields & { repositoryId: number; authorId: number; publishedAt: Date | null },
): Promise<ReleaseRow | undefined> {
  return tx.row<ReleaseRow>`
    insert into :schema.releases
      (repository_id, tag_name, target, name, body, prerelease, author_id, created_at, published_at)
    values (${release.repositoryId}, ${release.tag_name}, ${release.target}, ${release.name}, ${release.body},
      ${release.prerelease}, ${release.authorId}, ${tx.now}, ${release.publishedAt})
    on conflict on constraint releases_key do nothing returning *`;
}

/** Writes a changed release; undefined when it is gone. Fails on the unique tag when that has another release. */
export function update(
  tx: Tx,
  id: number,
  release: ReleaseFields & { publishedAt: Date | null },
): Promise<ReleaseRow | undefined> {
  return tx.row<ReleaseRow>`
    update :schema.releases set tag_name = ${release.tag_name}, target = ${release.target}, name = ${release.name},
      body = ${release.body}, prerelease = ${release.prerelease}, published_at = ${release.publishedAt}
    where id = ${id} returning *`;
}

/** Publishes a draft whose tag is there; false when it has another tag by now, is published or gone. */
export async function publish(
  tx: Tx,
  id: number,
  { tag, at }: { tag: string; at: Date | string },
): Promise<boolean> {
  return (
    (await tx.run`
      update :schema.releases set published_at = ${at}::timestamptz
      where id = ${id} and tag_name = ${tag} and published_at is null`) > 0
  );
}

/** Makes a draft what it was before its tag was to be made; one whose former tag has another release stays as it is. */
export async function putBack(tx: Tx, id: number, former: FormerRelease): Promise<void> {
  await tx.run`
    update :schema.releases r set tag_name = ${former.tag_name}, target = ${former.target}, name = ${former.name},
      body = ${former.body}, prerelease = ${former.prerelease}, published_at = ${former.published_at}::timestamptz
    where r.id = ${id} and r.published_at is null and not exists (
      select from :schema.releases o
      where o.repository_id = r.repository_id and o.tag_name = ${former.tag_name} and o.id <> r.id)`;
}

/** Makes drafts of the releases of tags that are gone. */
export async function unpublish(tx: Tx, repositoryId: number, tags: readonly string[]): Promise<void> {
  await tx.run`
    update :schema.releases set published_at = null
    where repository_id = ${repositoryId} and tag_name = any(${tags}::text[]) and published_at is not null`;
}

/** Holds a release until the transaction ends: nobody attaches anything to it; false when it is gone. */
export async function hold(tx: Tx, id: number): Promise<boolean> {
  return (await tx.row`select from :schema.releases where id = ${id} for update`) !== undefined;
}

/** Removes a release with the rows of its files; its tag stays. False when it was gone already. */
export async function deleteById(tx: Tx, id: number): Promise<boolean> {
  return (await tx.run`delete from :schema.releases where id = ${id}`) > 0;
}

/** Removes one that was never published. */
export async function deleteDraft(tx: Tx, id: number): Promise<void> {
  await tx.run`delete from :schema.releases where id = ${id} and published_at is null`;
}
