import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '@croft/runtime';
import { temporaryFolder, testDatabase } from '@croft/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readCopyHead, readCopyLine } from '../src/import/dump/copy-text.ts';
import { openDumpSource } from '../src/import/dump/dump-source.ts';
import { linesOf } from '../src/import/dump/lines.ts';
import { openLiveSource } from '../src/import/live-source.ts';
import type { Source, SourceTable } from '../src/import/source.ts';
import { migrations } from '../src/open-context.ts';
import { gotrueDatabase } from './support/gotrue-database.ts';

// Where an import reads from: files that are dumps or not, and databases whose rows can be seen or not.

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

let files = 0;
async function file(content: string | Buffer): Promise<string> {
  const path = join(folder.path, `${files++}.sql`);
  await writeFile(path, content);
  return path;
}
async function all(source: Source, table: SourceTable): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const batch of source.rows(table)) rows.push(...batch);
  return rows;
}

it('values of a dump are read as the server wrote them', () => {
  expect(readCopyLine('a\t\\N\t\t\\\\N\ttab\\tline\\nend\\r\\b\\f\\v\\\\')).toEqual([
    'a',
    null,
    '',
    '\\N',
    'tab\tline\nend\r\b\f\v\\',
  ]);
  expect(readCopyHead('COPY auth.users (id, "role", "a ""b""") FROM stdin;')).toEqual({
    schema: 'auth',
    table: 'users',
    columns: ['id', 'role', 'a "b"'],
  });
  expect(readCopyHead('COPY auth.users (id) TO stdout;')).toBeUndefined();
});

it('lines are found wherever the pieces of a file end', async () => {
  const content = Buffer.from(`${'ä'.repeat(200_000)}\n\n${'b'.repeat(300_000)}\nlast`);
  const path = await file(content);
  const lines: string[] = [];
  for await (const { bytes, end } of linesOf(path)) {
    lines.push(bytes.toString());
    expect(end === content.length || content[end - 1] === 10).toBe(true);
  }
  expect(lines.join('\n')).toBe(content.toString());
});

const HEAD = "SET client_encoding = 'UTF8';\n";
const users = (...rows: string[]) =>
  `COPY auth.users (id, email) FROM stdin;\n${rows.map((row) => `${row}\n`).join('')}\\.\n`;

it('rows of other schemas, and rows that look like a beginning, are not mistaken', async () => {
  const other = 'COPY public.users (id, email) FROM stdin;\n9\tx\n\\.\n';
  const inside = users('1\tCOPY auth.users (id, email) FROM stdin;', '2\t\\\\.');
  const source = await openDumpSource(await file(HEAD + other + inside + other), 'auth');
  expect(await all(source, 'users')).toEqual([
    { id: '1', email: 'COPY auth.users (id, email) FROM stdin;' },
    { id: '2', email: '\\.' },
  ]);
  expect(await all(source, 'sessions')).toEqual([]);
});

it('a dump is read in batches, however large its rows are', async () => {
  const large = 'x'.repeat(2 ** 20);
  const rows = Array.from({ length: 20 }, (_, index) => `${index}\t${large}`);
  const source = await openDumpSource(await file(HEAD + users(...rows)), 'auth');
  const sizes: number[] = [];
  for await (const batch of source.rows('users')) sizes.push(batch.length);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(4);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(20);
});

it.each([
  ['PGDMP\x01\x0e', /custom format.*pg_restore/],
  [Buffer.from([0x1f, 0x8b, 8, 0]), /compressed/],
  ['', /holds no rows of auth\.users/],
  ['hello', /holds no rows of auth\.users/],
  [`${HEAD}COPY auth.users (id, email) FROM stdin;\n1\tx\n`, /not the whole dump/],
  ["SET client_encoding = 'LATIN1';\n", /LATIN1/],
  [`${HEAD}INSERT INTO auth.users VALUES (1);\n`, /--inserts/],
] as const)('a file that is no dump %# is told from one', async (content, why) => {
  await expect(
    openDumpSource(await file(content), 'auth').then((source) => all(source, 'users')),
  ).rejects.toThrow(why);
});

it('a file that is not there, a folder, and a row of another length are told', async () => {
  await expect(openDumpSource(join(folder.path, 'none'), 'auth')).rejects.toThrow(/cannot be read/);
  await expect(openDumpSource(folder.path, 'auth')).rejects.toThrow(/cannot be read/);
  const source = await openDumpSource(await file(HEAD + users('1\tx', '2')), 'auth');
  await expect(all(source, 'users')).rejects.toThrow(/another length/);
});

it('a database without GoTrue, with Croft itself, or with rows that cannot be seen is refused', async () => {
  await using home = await testDatabase({ schema: 'auth', migrations });
  await expect(openLiveSource(home.url, 'nowhere', silentLog)).rejects.toThrow(/holds no tables of GoTrue/);
  await expect(openLiveSource(home.url, 'auth', silentLog)).rejects.toThrow(/Croft's own tables/);
  await using early = await gotrueDatabase(home.url, 'v2.150', 'early');
  await early.script('drop table :schema.mfa_factors');
  const source = await openLiveSource(home.url, 'early', silentLog);
  expect(await all(source, 'mfa_factors')).toEqual([]);
  await source.close();
  await expect(openLiveSource('postgres://nobody@127.0.0.1:1/x', 'auth', silentLog)).rejects.toThrow(
    /cannot be read/,
  );
  await using old = await gotrueDatabase(home.url, 'head');
  const name = `stranger_${Date.now()}`;
  await old.script(
    `create role ${name} login; grant usage on schema :schema to ${name}; grant select on all tables in schema :schema to ${name}`,
  );
  const url = new URL(home.url);
  url.username = name;
  try {
    await expect(openLiveSource(url.href, old.schema, silentLog)).rejects.toThrow(
      /Row-level security hides rows/,
    );
  } finally {
    await old.script(`drop owned by ${name}; drop role ${name}`);
  }
});

it('identities of the time when they had no id of their own are refused before anything is taken', async () => {
  await using home = await testDatabase({ schema: 'auth', migrations });
  await using early = await gotrueDatabase(home.url, 'v2.150', 'early');
  await early.script(`alter table :schema.identities drop column id;
    alter table :schema.identities rename column provider_id to id;
    alter table :schema.identities add primary key (provider, id)`);
  await expect(openLiveSource(home.url, 'early', silentLog)).rejects.toThrow(/before December 2023/);
  const identities =
    'COPY auth.identities (id, user_id, identity_data, provider) FROM stdin;\n1\t1\t{}\temail\n\\.\n';
  await expect(openDumpSource(await file(HEAD + identities + users('1\tx')), 'auth')).rejects.toThrow(
    /before December 2023/,
  );
});
