import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { showStack, stackSchema } from '../stacks/show-stack.ts';
import { findPull } from './find-pull.ts';
import { presentPulls } from './present-pulls.ts';
import { pullSchema } from './pull-json.ts';

/** A single pull request on the wire: lists do not look for stacks. */
export const singlePullSchema = pullSchema.extend({ stack: stackSchema });

/** A pull request as its viewer gets it. */
export async function showPull(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath,
): Promise<z.output<typeof singlePullSchema>> {
  const found = await findPull(context, viewer, path);
  const [[pull], stack] = await Promise.all([
    presentPulls(context, viewer, found, [found.pull]),
    showStack(context, found.pull),
  ]);
  if (pull === undefined) throw notFound();
  return { ...pull, stack };
}
