import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { unacceptable } from '../failures.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import { checkText } from '../rules/issues/text-limits.ts';
import { findRelease, findWithReleasesToWrite } from './find-release.ts';
import { presentRelease } from './present-releases.ts';
import type { releaseSchema } from './release-json.ts';
import { saveRelease } from './save-release.ts';

/** A release that is to be. */
export interface NewRelease {
  tag: string;
  /** What the tag is made of if there is none; empty for the default branch. */
  target: string;
  name: string;
  body: string;
  draft: boolean;
  prerelease: boolean;
  /** Of the tag, if it has to be made. */
  tagMessage: string;
}

/**
 * Makes a release and shows it; one that is no draft gets its tag.
 * @throws 403, 404 for a target that does not exist, 409 when the tag has a release, 422, 423
 */
export async function createRelease(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  wanted: NewRelease,
): Promise<z.output<typeof releaseSchema>> {
  const { tag, target, name, body, draft, prerelease, tagMessage } = wanted;
  const found = await findWithReleasesToWrite(context, caller, path);
  const { empty, default_branch: defaultBranch } = found.repository;
  checkRelease({ tag, body });
  if (empty) throw unacceptable('Git Repository is empty.');
  const fields = { tag_name: tag, target: target || defaultBranch, name, body, prerelease };
  const id = await saveRelease(context, caller, found, async () => {
    return { current: undefined, fields, draft, tagMessage };
  });
  const made = await findRelease(context, caller, { ...path, release: String(id) });
  return await presentRelease(context, caller, made);
}

/** @throws 422 for a name that no tag can have, and for a text that is too long */
export function checkRelease({ tag, body }: { tag: string; body: string }): void {
  if (!isBranchName(tag)) throw unacceptable('[TagName]: GitRefName');
  checkText(body);
}
