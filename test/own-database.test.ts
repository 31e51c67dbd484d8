import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '@croft/runtime';
import { openDatabase } from '@croft/sql';
import { temporaryFolder, testDatabase } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { croft, finish } from './support/command-line.ts';
import { type Place, placeFor, root } from './support/croft.ts';

const stack = new AsyncDisposableStack();
let base: string;
let url: string;
let place: Place;
beforeAll(async () => {
  base = stack.use(await temporaryFolder()).path;
  const migrations = new URL(`file://${root}/services/forge/migrations/`);
  ({ url } = stack.use(await testDatabase({ schema: 'other', migrations })));
  place = await placeFor(join(base, 'data'), { DATABASE_URL: url });
});
afterAll(() => stack.disposeAsync());

const run = (...words: string[]) => finish(croft(place, words));

describe('tasks of the forge, with a sentence and nothing made', () => {
  it.each(['doctor', 'backup'])('%s without tables', async (task) => {
    const folder = join(base, 'none');
    const { code, out, errors } = await run('forge', task, ...(task === 'backup' ? [folder] : []));
    expect({ code, out, errors }).toEqual({
      code: 1,
      out: '',
      errors: expect.stringMatching(/^There are no tables of Croft in the schema "forge"\. .*\n$/),
    });
    expect(existsSync(folder)).toBe(false);
  });
});

it.each(['auth', 'forge'])(
  '%s migrate needs nothing but the database, and makes no folder',
  async (service) => {
    expect(await run(service, 'migrate')).toMatchObject({ code: 0, out: expect.stringMatching(/^applied /) });
    expect(await run(service, 'migrate')).toMatchObject({ code: 0, out: `${service} is up to date\n` });
    expect(existsSync(place.data)).toBe(false);
  },
);

it('a task tells of a setting that nobody reads', async () => {
  const slipped = { ...place, env: { ...place.env, FORGE_DB_SCHMA: 'other' } };
  const { code, errors } = await finish(croft(slipped, ['forge', 'migrate']));
  expect([code, errors]).toEqual([0, expect.stringMatching(/did you mean FORGE_DB_SCHEMA\?/)]);
});

it('a database that is not UTF-8 is refused, and nothing is made in it', async () => {
  const database = openDatabase({ url, schema: 'public', log: silentLog });
  const latin = new URL(url);
  latin.pathname += '_latin';
  const name = latin.pathname.slice(1);
  await database
    .autocommit()
    .run([
      `create database "${name}" encoding 'LATIN1' template template0 locale_provider libc lc_collate 'C' lc_ctype 'C'`,
    ] as unknown as TemplateStringsArray);
  try {
    const there = await placeFor(join(base, 'latin'), { DATABASE_URL: latin.href });
    const { code, errors } = await finish(croft(there, ['forge', 'migrate']));
    expect({ code, errors }).toEqual({
      code: 1,
      errors: expect.stringMatching(/ has the encoding LATIN1, and Croft needs UTF8: create database .*\n$/),
    });
  } finally {
    await database.autocommit().run([`drop database "${name}"`] as unknown as TemplateStringsArray);
    await database.close();
  }
});

describe('tables of a later version', () => {
  beforeAll(async () => {
    await run('forge', 'migrate');
    const database = openDatabase({ url, schema: 'forge', log: silentLog });
    await database.autocommit()
      .run`insert into :schema.croft_migrations (name, checksum, applied_at) values ('9999_future', '', now())`;
    await database.close();
  });

  it.each([['migrate'], ['doctor'], ['backup']])('are named by %s', async (task) => {
    const folder = join(base, 'backup');
    const { code, out, errors } = await run('forge', task, ...(task === 'backup' ? [folder] : []));
    expect({ code, out, errors }).toEqual({
      code: 1,
      out: '',
      errors: expect.stringMatching(/are of a later version of Croft: .*migration 9999_future\. /),
    });
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
  });
});
