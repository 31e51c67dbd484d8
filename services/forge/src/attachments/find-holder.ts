import type { Caller } from '../caller/caller.ts';
import { type CommentPath, locked } from '../comments/find-comment.ts';
import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { findSubject, type Subject } from '../reactions/find-subject.ts';
import { findRelease, findReleaseToWrite, type VisibleRelease } from '../releases/find-release.ts';
import { checkNotArchived, type VisibleRepository } from '../repositories/find-repository.ts';
import type { ForgeSettings } from '../settings.ts';
import type { AttachmentPlace } from '../store/tracking/attachments.ts';

/** What a path says of something that files belong to. */
export type HolderPath = NumberedPath | CommentPath | { owner: string; repo: string; release: string };

/** Something that files belong to: an issue, a comment or a release. */
export interface Holder {
  found: VisibleRepository;
  place: AttachmentPlace;
}

/** What its files may be. */
export interface FileLimits {
  /** How many. */
  most: number;
  bytes: number;
  /** Of names; none allow everything. */
  endings: readonly string[];
}

/**
 * What a path names: an issue by its number, a comment or a release by its id.
 * @throws 404
 */
export async function findHolder(
  context: Context,
  viewer: Caller | undefined,
  path: HolderPath,
): Promise<Holder> {
  if ('release' in path) return ofRelease(await findRelease(context, viewer, path));
  return ofSubject(await findSubject(context, viewer, path));
}

/**
 * The same for whoever may change the files: writers everybody's, and of issues and comments everybody his own.
 * @throws 403, 404, 423
 */
export async function findHolderToWrite(context: Context, caller: Caller, path: HolderPath): Promise<Holder> {
  if ('release' in path) return ofRelease(await findReleaseToWrite(context, caller, path));
  const subject = await findSubject(context, caller, path);
  if (!subject.moderates) {
    if (subject.posterId !== caller.userId)
      throw forbidden('only the author and writers may change the files');
    if (subject.locked) throw locked();
  }
  checkNotArchived(subject.found);
  return ofSubject(subject);
}

const ofRelease = ({ release, ...found }: VisibleRelease): Holder => ({
  found,
  place: { releaseId: release.id },
});
const ofSubject = ({ found, issueId, commentId }: Subject): Holder => ({
  found,
  place: { issueId, commentId },
});

/** Limits of the files of a place: what people talk with is small, and more of it belongs into the repository. */
export function limitsOf(settings: ForgeSettings, place: AttachmentPlace): FileLimits {
  return 'releaseId' in place
    ? { most: 200, bytes: settings.RELEASE_FILE_MAX_BYTES, endings: [] }
    : { most: 50, bytes: settings.ATTACHMENT_MAX_BYTES, endings: settings.ATTACHMENT_TYPES };
}
