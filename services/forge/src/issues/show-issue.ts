import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { findIssue, type NumberedPath } from './find-issue.ts';
import type { issueSchema } from './issue-json.ts';
import { presentIssues } from './present-issues.ts';

/** An issue as its viewer gets it. */
export async function showIssue(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath,
): Promise<z.output<typeof issueSchema> | undefined> {
  const found = await findIssue(context, viewer, path);
  return (await presentIssues(context, viewer, found, [found.issue]))[0];
}
