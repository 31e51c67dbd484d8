import type { Caller } from '../caller/caller.ts';
import { unitOf } from '../comments/find-comment.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { findTaggedOrLatest, maySee } from '../releases/find-release.ts';
import { findRepositoryById, mayRead, type VisibleRepository } from '../repositories/find-repository.ts';
import * as attachments from '../store/tracking/attachments.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A file by its public name. */
export async function findByUuid(
  { database }: Context,
  uuid: string,
): Promise<attachments.AttachmentWithPlace | undefined> {
  return UUID.test(uuid) ? await attachments.findByUuid(database.autocommit(), uuid) : undefined;
}

/**
 * Looks whether somebody may read what a file belongs to.
 * @throws 404
 */
export async function checkDownload(
  context: Context,
  viewer: Caller | undefined,
  row: attachments.AttachmentWithPlace,
): Promise<void> {
  const found = await findRepositoryById(context, viewer, row.repository_id);
  if (!mayDownload(found, row)) throw notFound();
}

/** What a path says of a file of a release. */
export interface ReleaseFilePath {
  owner: string;
  repo: string;
  tag: string;
  file: string;
}

/**
 * A file of a release by the names of both, for somebody who may read it. Of several with one name it is the one that came last.
 * @throws 404
 */
export async function findReleaseFile(
  context: Context,
  viewer: Caller | undefined,
  path: ReleaseFilePath,
): Promise<attachments.AttachmentRow> {
  const { release } = await findTaggedOrLatest(context, viewer, path);
  const files = await attachments.listByPlace(context.database.autocommit(), { releaseId: release.id });
  const row = files.findLast(({ name }) => name === path.file);
  if (row === undefined) throw notFound();
  return row;
}

function mayDownload(found: VisibleRepository, row: attachments.AttachmentWithPlace): boolean {
  return row.release_id === null
    ? mayRead(found, unitOf(row.is_pull === true))
    : mayRead(found, 'code') && maySee(found, row);
}
