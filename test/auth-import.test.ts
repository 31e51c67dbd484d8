import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { croft, finish, ready } from './support/command-line.ts';
import { type Place, placeFor } from './support/croft.ts';

// Moving in on the command line: a dump goes in beside a running Croft, and its people sign in.

let base: string;
let dispose: () => Promise<void>;
let place: Place;
let running: ChildProcess;
let dump: string;
beforeAll(async () => {
  const folder = await temporaryFolder();
  base = folder.path;
  dispose = async () => await folder[Symbol.asyncDispose]();
  place = await placeFor(join(base, 'data'));
  running = croft(place, ['start', 'auth']);
  await ready(running);
  dump = join(base, 'dump.sql');
  writeFileSync(dump, DUMP);
});
afterAll(async () => {
  if (running.exitCode === null) {
    running.kill();
    await once(running, 'exit');
  }
  await dispose();
});

const ADA = '11111111-1111-4111-8111-111111111111';
const SESSION = '22222222-2222-4222-8222-222222222222';
/** bcrypt of `an old password`. */
const HASH = '$2a$10$uMAH2Jjr0UNOw.hXFWrZ/ejt0gV/DWsEUODGyzDXKo9BlE7pz8Dc.';
const DUMP = `SET client_encoding = 'UTF8';
COPY auth.refresh_tokens (id, token, revoked, session_id) FROM stdin;
1\tabcdefghijk2\tf\t${SESSION}
\\.
COPY auth.sessions (id, user_id, created_at) FROM stdin;
${SESSION}\t${ADA}\t2026-01-01 10:00:00+00
\\.
COPY auth.users (id, email, encrypted_password, email_confirmed_at, created_at, is_sso_user) FROM stdin;
${ADA}\tada@old.example\t${HASH}\t2026-01-01 10:00:00+00\t2026-01-01 10:00:00+00\tf
33333333-3333-4333-8333-333333333333\tAda@old.example\t\\N\t\\N\t2026-01-02 10:00:00+00\tf
\\.
`;

const run = (words: string[]) => finish(croft(place, ['auth', 'import', ...words]));

async function token(grant: string, body: object) {
  const response = await fetch(`http://127.0.0.1:${place.authPort}/token?grant_type=${grant}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('croft auth import', () => {
  it('tells what it would do, does it, and has nothing left to do', async () => {
    const table = (made: number, known: number) =>
      new RegExp(`^users +2 +${made} +${known} +1$[\\s\\S]*^sessions +1 +${made} +${known} +0$`, 'm');
    const dry = await run(['--dump', dump, '--dry-run']);
    expect(dry).toMatchObject({ code: 0, out: expect.stringContaining('Nothing was written.') });
    expect((await token('refresh_token', { refresh_token: 'abcdefghijk2' })).status).toBe(400);

    const first = await run(['--dump', dump]);
    expect(first).toMatchObject({ code: 0, out: expect.stringMatching(table(1, 0)) });
    expect(first.out).toContain('(ada@old.example): another row of the source has the same address');
    const signedIn = await token('password', { email: 'ada@old.example', password: 'an old password' });
    expect([signedIn.status, (signedIn.body['user'] as { id: string }).id]).toEqual([200, ADA]);
    await expect
      .poll(async () => (await token('refresh_token', { refresh_token: 'abcdefghijk2' })).status, {
        timeout: 10_000,
      })
      .toBe(200);

    expect(await run(['--dump', dump])).toMatchObject({ code: 0, out: expect.stringMatching(table(0, 1)) });
  });

  it('tells who was changed in a GoTrue that went on, by the exit code too', async () => {
    const later = join(base, 'later.sql');
    writeFileSync(later, DUMP.replace(HASH, `${HASH.slice(0, -2)}AA`));
    const again = await run(['--dump', later]);
    expect(again).toMatchObject({
      code: 3,
      out: expect.stringMatching(/^Changed in GoTrue after .*:\nuser 1{8}-\S+ \(ada@old\.example\)$/m),
    });
  });

  it('says what is wrong in a sentence', async () => {
    const results = await Promise.all([
      run(['--dump', join(base, 'none.sql')]),
      run(['--from', 'postgres://nobody@127.0.0.1:1/none']),
      run([]),
      run(['--schema', 'nowhere']),
      run(['--dump', dump, '--from', 'postgres://x/y']),
    ]);
    expect(results.map(({ code }) => code)).toEqual([1, 1, 1, 1, 2]);
    expect(results.map(({ errors }) => errors.split('\n').filter((line) => line !== '')[0])).toEqual([
      expect.stringMatching(/none\.sql cannot be read/),
      expect.stringMatching(/^The database to import from cannot be read/),
      expect.stringMatching(/^The schema "auth" is the service's own/),
      expect.stringMatching(/^The schema "nowhere" of the source holds no tables of GoTrue/),
      expect.stringMatching(/exclude one another/),
    ]);
    expect((await run(['--help'])).out).toContain('croft auth import --dump dump.sql --dry-run');
  });
});
