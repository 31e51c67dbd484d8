import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as labels from '../store/issues/labels.ts';
import { findLabelHome, type HomePath } from './find-label-home.ts';
import { labelJson, type labelSchema } from './label-json.ts';

/**
 * A label of a repository or an organization.
 * @throws 404, also for one of another home
 */
export async function showLabel(
  context: Context,
  viewer: Caller | undefined,
  path: HomePath & { id: string },
): Promise<z.output<typeof labelSchema>> {
  const home = await findLabelHome(context, viewer, path, 'read');
  const label = await labels.findById(context.database.autocommit(), home, readId(path.id));
  if (label === undefined) throw notFound();
  return labelJson(labels.cardOf(label), home.names, context.links);
}
