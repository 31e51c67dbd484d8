import { StartError } from '@croft/runtime';
import type { Kind, Tally } from './report.ts';
import type { SourceRow } from './rows/fields.ts';
import type { Source, SourceTable } from './source.ts';

/** Where rows come from, and who is told of them. */
interface Progress {
  source: Source;
  tally: Tally;
  onProgress: (kind: Kind, read: number) => void;
}

/**
 * Works off a table batch by batch; whoever stops in between has the batches before.
 * @throws StartError when the source goes away, or has a row that no database takes
 */
export async function each(
  { source, tally, onProgress }: Progress,
  table: SourceTable,
  kind: Kind | undefined,
  take: (rows: readonly SourceRow[]) => Promise<void>,
): Promise<void> {
  try {
    for await (const rows of source.rows(table)) {
      await take(rows);
      if (kind === undefined) continue;
      const count = tally.count(kind);
      count.read += rows.length;
      onProgress(kind, count.read);
    }
  } catch (error) {
    // Of the driver, or of a value that is no JSON.
    const isOfData = error instanceof SyntaxError || (error instanceof Error && 'code' in error);
    if (!isOfData) throw error;
    throw new StartError(
      `The import stopped among the rows of ${table}: ${error.message}. What was taken over stays; run it again to go on.`,
      { cause: error },
    );
  }
}
