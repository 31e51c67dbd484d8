import { z } from 'zod';
import type { Context } from '../context.ts';
import { isWorkInProgress } from '../rules/pulls/mergeable.ts';
import { findAbove, findFooting } from '../rules/pulls/stack.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import type { StackedPull } from '../store/pulls/stacks.ts';
import * as stacks from '../store/pulls/stacks.ts';
import { memberOf } from './find-stack.ts';

const entrySchema = z.object({
  number: z.int(),
  title: z.string(),
  state: z.enum(['open']),
  draft: z.boolean(),
  base: z.string(),
  head: z.string(),
  sha: z.string(),
});

/** The open pull requests that one stands on and that stand on it, from bottom to top, with itself. */
export const stackSchema = z
  .array(entrySchema)
  .describe('from bottom to top, with itself; empty when it stands on none and none stands on it');

/** The stack of a pull request: everybody who sees one sees all of them. */
export async function showStack(
  { database }: Context,
  pull: PullWithIssue,
): Promise<z.output<typeof stackSchema>> {
  if (pull.closed_at !== null) return [];
  const { below, above } = await stacks.listAround(database.autocommit(), pull);
  const member = memberOf(pull);
  const footing = findFooting(member, below).below;
  const onTop = findAbove(member, above, footing);
  if (footing.length + onTop.length === 0) return [];
  const { title, head_branch, head_sha } = pull;
  return [...footing, { ...member, title, head_branch, head_sha }, ...onTop].map(entryJson);
}

const entryJson = ({ number, title, base_branch: base, head_branch: head, head_sha: sha }: StackedPull) => ({
  number,
  title,
  state: 'open' as const,
  draft: isWorkInProgress(title),
  base,
  head,
  sha,
});
