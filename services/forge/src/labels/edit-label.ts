import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { readColor, scopeOf } from '../rules/issues/label.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as labels from '../store/issues/labels.ts';
import type { NewLabel } from './create-label.ts';
import { findLabelHome, type HomePath } from './find-label-home.ts';
import { labelJson, type labelSchema } from './label-json.ts';

/** What a request may change about a label; what is absent stays. */
export type LabelEdit = { [Key in keyof NewLabel]?: NewLabel[Key] | null | undefined };

/** Edits a label, for all issues that have it. */
export async function editLabel(
  context: Context,
  caller: Caller,
  path: HomePath & { id: string },
  wanted: LabelEdit,
): Promise<z.output<typeof labelSchema>> {
  const home = await findLabelHome(context, caller, path, 'write');
  const color = wanted.color ? readColor(wanted.color) : undefined;
  const after = await context.database.transaction(async (tx) => {
    const current = await labels.lockById(tx, home, readId(path.id));
    if (current === undefined) throw notFound();
    const name = wanted.name || current.name;
    const archived = wanted.is_archived ?? current.archived_at !== null;
    return await labels.update(tx, current.id, {
      name,
      color: color ?? current.color,
      description: wanted.description ?? current.description,
      exclusive: (wanted.exclusive ?? current.exclusive) && scopeOf(name) !== undefined,
      archivedAt: archived ? (current.archived_at ?? tx.now) : null,
    });
  });
  if (after === undefined) throw notFound();
  return labelJson(labels.cardOf(after), home.names, context.links);
}
