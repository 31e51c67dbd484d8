import { once } from 'node:events';
import { join } from 'node:path';
import { temporaryFolder } from '@croft/testing';
import pg from 'pg';
import { expect, it } from 'vitest';
import { findRunningDatabase } from '../launcher/admin/running-database.ts';
import { croft, finish, ready } from './support/command-line.ts';
import { placeFor } from './support/croft.ts';

// What the ledger of migrations says is made up here: the tables of a version before this one, and of one after it.
it('tables of another version are left as they are, with a sentence that says what to do', {
  timeout: 150_000,
}, async () => {
  await using folder = await temporaryFolder();
  const place = await placeFor(join(folder.path, 'data'));
  const run = (...words: string[]) => finish(croft(place, words));
  const running = croft(place, ['start', 'auth']);
  try {
    await ready(running);
    const client = new pg.Client(await findRunningDatabase(place.data));
    await client.connect();
    const snapshot = async () => {
      const { rows } = await client.query(
        `select (select jsonb_agg(m order by name) from auth.croft_migrations m) as ledger,
          (select jsonb_agg(u order by id) from auth.users u) as users`,
      );
      return rows;
    };

    await client.query(`delete from auth.croft_migrations where name = '0005_codes-under-way'`);
    const older = await snapshot();
    const refused = [
      await run('auth', 'admin', 'list-users'),
      await run('auth', 'admin', 'create-user', 'eve@example.test', '--generate-password'),
      await run('auth', 'admin', 'delete-user', 'admin@croft.local'),
    ];
    for (const { code, out, errors } of refused) {
      expect([code, out]).toEqual([1, '']);
      expect(errors).toMatch(/service of an older version.*Stop it and start this version first/);
      expect(errors).not.toContain('    at ');
    }
    expect(await snapshot()).toEqual(older);
    expect((await fetch(`http://127.0.0.1:${place.authPort}/health`)).status).toBe(200);

    await client.query(`insert into auth.croft_migrations values ('9999_to-come', '', now())`);
    const newer = await snapshot();
    const beside = await run('auth', 'admin', 'list-users');
    expect(beside).toMatchObject({ code: 1, errors: expect.stringContaining('9999_to-come') });
    expect(await snapshot()).toEqual(newer);
    await client.end();

    running.kill();
    await once(running, 'exit');
    for (const words of [
      ['auth', 'migrate'],
      ['start', 'auth'],
      ['auth', 'admin', 'list-users'],
    ]) {
      const { code, errors } = await run(...words);
      expect([words, code]).toEqual([words, 1]);
      expect(errors).toMatch(/later version of Croft.*9999_to-come.*Start that version or a later one/);
      expect(errors).not.toContain('    at ');
    }
  } finally {
    running.kill();
  }
});
