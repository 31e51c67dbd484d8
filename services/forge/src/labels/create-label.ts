import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { readColor, scopeOf } from '../rules/issues/label.ts';
import * as labels from '../store/issues/labels.ts';
import { findLabelHome, type HomePath } from './find-label-home.ts';
import { labelJson, type labelSchema } from './label-json.ts';

/** What a request says of a new label. */
export interface NewLabel {
  name: string;
  color: string;
  description?: string | null | undefined;
  exclusive?: boolean | null | undefined;
  is_archived?: boolean | null | undefined;
}

/** Creates a label; only one whose name has a scope can be exclusive. */
export async function createLabel(
  context: Context,
  caller: Caller,
  path: HomePath,
  wanted: NewLabel,
): Promise<z.output<typeof labelSchema>> {
  const home = await findLabelHome(context, caller, path, 'write');
  const color = readColor(wanted.color);
  const tx = context.database.autocommit();
  const label = await labels.insert(tx, home, {
    name: wanted.name,
    color,
    description: wanted.description ?? '',
    exclusive: wanted.exclusive === true && scopeOf(wanted.name) !== undefined,
    archivedAt: wanted.is_archived === true ? tx.now : null,
  });
  return labelJson(labels.cardOf(label), home.names, context.links);
}
