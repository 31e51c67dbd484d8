import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { findPull } from './find-pull.ts';
import { presentPulls } from './present-pulls.ts';
import type { pullSchema } from './pull-json.ts';

/** A pull request as its viewer gets it. */
export async function showPull(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath,
): Promise<z.output<typeof pullSchema> | undefined> {
  const found = await findPull(context, viewer, path);
  return (await presentPulls(context, viewer, found, [found.pull]))[0];
}
