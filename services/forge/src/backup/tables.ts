import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '@croft/runtime';
import type { Tx } from '@croft/sql';
import * as catalogue from '../store/upkeep/catalogue.ts';
import type { Manifest } from './manifest.ts';
import { readLines } from './read-lines.ts';

/** Bytes of rows that one statement brings in; a single row may be larger. */
const BATCH_BYTES = 1024 * 1024;

type TableInManifest = Manifest['tables'][number];

/** Writes the rows of a table to a file of its own, one as JSON on each line. */
export async function saveTable(
  tx: Tx,
  schema: string,
  table: string,
  folder: string,
): Promise<TableInManifest> {
  const file = await open(join(folder, `${table}.jsonl`), 'wx', 0o600);
  let rows = 0;
  try {
    for await (const lines of catalogue.readRows(tx, schema, table)) {
      rows += lines.length;
      await file.write(`${lines.join('\n')}\n`);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { name: table, columns: await catalogue.listColumns(tx, schema, table), rows };
}

/**
 * Brings the rows back into an empty table.
 * @throws StartError when the file cannot be read, or has more or fewer than it should
 */
export async function loadTable(
  tx: Tx,
  schema: string,
  table: TableInManifest,
  folder: string,
): Promise<void> {
  let rows = 0;
  let batch: string[] = [];
  let bytes = 0;
  const send = async () => {
    if (batch.length > 0)
      await catalogue
        .insertRows(tx, schema, table.name, table.columns, `[${batch.join(',')}]`)
        .catch((error: unknown) => {
          // invalid_text_representation: a line that is no JSON.
          throw (error as { code?: unknown }).code === '22P02'
            ? damaged(table.name, 'a line is no row', error)
            : error;
        });
    batch = [];
    bytes = 0;
  };
  await using file = await open(join(folder, `${table.name}.jsonl`)).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? damaged(table.name, 'it is missing') : error;
  });
  for await (const line of readLines(file)) {
    rows++;
    batch.push(line);
    bytes += line.length;
    if (bytes >= BATCH_BYTES) await send();
  }
  await send();
  if (rows !== table.rows)
    throw damaged(table.name, `it has ${rows} rows of ${table.name}, and says that it has ${table.rows}`);
}

const damaged = (table: string, why: string, cause?: unknown) =>
  new StartError(`The backup is damaged: tables/${table}.jsonl cannot be read, ${why}. Use another one.`, {
    cause,
  });
