import { open } from 'node:fs/promises';
import { StartError } from '@croft/runtime';
import type { SourceRow } from '../rows/fields.ts';
import { BATCH_ROWS, checkIdentities, type Source } from '../source.ts';
import { readCopyHead, readCopyLine } from './copy-text.ts';
import { linesOf } from './lines.ts';

/** Rows of a batch in bytes, roughly, however few they are. */
const BATCH_BYTES = 4 * 2 ** 20;
const END_OF_ROWS = '\\.';
/** Long enough for the line before rows; longer lines are rows themselves. */
const HEAD_BYTES = 4096;

/** The rows of one table: where they begin, and what they are. */
interface Block {
  table: string;
  columns: readonly string[];
  start: number;
}

/**
 * Reads a plain dump of pg_dump. Its tables are in another order than their rows depend on one another, so the file is
 * looked through once for where each begins, and each is then read when its turn comes.
 * @throws StartError when it is no such file, not all of one, or one of too old a GoTrue
 */
export async function openDumpSource(file: string, schema: string): Promise<Source> {
  await checkKind(file);
  const blocks = await findBlocks(file, schema);
  if (!blocks.some(({ table }) => table === 'users')) {
    throw new StartError(`${file} holds no rows of ${schema}.users. Name the schema with --schema.`);
  }
  checkIdentities(blocks.find(({ table }) => table === 'identities')?.columns);
  return {
    name: file,
    has: (table) => blocks.some((block) => block.table === table),
    async *rows(table) {
      for (const block of blocks) if (block.table === table) yield* rowsOf(file, block);
    },
    close: async () => {},
  };
}

async function* rowsOf(file: string, { columns, start }: Block): AsyncGenerator<readonly SourceRow[]> {
  let batch: SourceRow[] = [];
  let bytes = 0;
  for await (const line of linesOf(file, start)) {
    const text = line.bytes.toString('utf8');
    if (text === END_OF_ROWS) break;
    const values = readCopyLine(text);
    if (values.length !== columns.length)
      throw new StartError(`${file} has a row of another length at ${line.end}.`);
    batch.push(Object.fromEntries(columns.map((name, index) => [name, values[index]])));
    bytes += line.bytes.length;
    if (batch.length < BATCH_ROWS && bytes < BATCH_BYTES) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

async function findBlocks(file: string, schema: string): Promise<Block[]> {
  const blocks: Block[] = [];
  let isInRows = false;
  let hasInserts = false;
  for await (const { bytes, end } of linesOf(file)) {
    if (isInRows) {
      isInRows = !(bytes.length === END_OF_ROWS.length && bytes.toString() === END_OF_ROWS);
      continue;
    }
    if (bytes.length > HEAD_BYTES) continue;
    const text = bytes.toString('utf8');
    checkEncoding(file, text);
    const head = readCopyHead(text);
    hasInserts ||= text.startsWith(`INSERT INTO ${schema}.users`);
    if (head === undefined) continue;
    isInRows = true;
    if (head.schema === schema) blocks.push({ table: head.table, columns: head.columns, start: end });
  }
  if (isInRows) throw new StartError(`${file} ends in the middle of a table: it is not the whole dump.`);
  if (hasInserts)
    throw new StartError(`${file} was made with --inserts; make it without, so that rows are in COPY.`);
  return blocks;
}

function checkEncoding(file: string, line: string): void {
  const encoding = /^SET client_encoding = '(.*)';$/.exec(line)?.[1];
  if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) {
    throw new StartError(`${file} is in ${encoding}; make it with --encoding=UTF8.`);
  }
}

/** Says what to do with other kinds of files, which this would find nothing in. */
async function checkKind(file: string): Promise<void> {
  let beginning: string;
  try {
    await using handle = await open(file);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(8), 0, 8, 0);
    beginning = buffer.toString('latin1', 0, bytesRead);
  } catch (error) {
    throw new StartError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  if (beginning.startsWith('PGDMP')) {
    throw new StartError(
      `${file} is in pg_dump's custom format. Turn it into text first: pg_restore --file=dump.sql ${file}`,
    );
  }
  if (beginning.startsWith('\x1f\x8b')) throw new StartError(`${file} is compressed. Unpack it first.`);
}
