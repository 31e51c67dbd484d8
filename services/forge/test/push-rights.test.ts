import { execFileSync } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { git, gitEnvironment } from '@croft/testing';
import { beforeAll, expect, it, vi } from 'vitest';
import { FLUSH, packetLine } from '../src/rules/git/push-request.ts';
import { commit, type Person, pushedRepository, request, useForge } from './forge.ts';

// Pushes whose pack takes its time, while the rights of who pushes go; and pushes with more commands than memory is for.

const scene = useForge();
const NONE = '0'.repeat(40);
/** More than rights are believed for. */
const A_WHILE_MS = 11_000;
let ada: Person;
let bob: Person;
let tree: string;
let bare: string;

beforeAll(async () => {
  ada = scene.person('ada');
  bob = scene.person('bob');
  await bob.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
});

const grant = () => ada.call('PUT', '/repos/ada/work/collaborators/bob', { permission: 'write' });
const refs = () => git(bare, 'for-each-ref', '--format=%(refname) %(objectname)');

/** A new branch with a commit of its own, and the pack that brings it. */
async function newBranch(name: string): Promise<{ command: string; pack: Buffer }> {
  await git(tree, 'checkout', '-q', '-B', name, 'origin/main');
  const tip = await commit(tree, { [`${name}.txt`]: name }, name);
  const pack = execFileSync('git', ['pack-objects', '--stdout', '--revs', '-q'], {
    cwd: tree,
    env: gitEnvironment,
    input: `${tip}\n^origin/main\n`,
  });
  return { command: `${NONE} ${tip} refs/heads/${name}`, pack };
}

/** Pushes, and has something happen before the last bytes of the pack. */
async function pushSlowly(
  person: Person,
  { command, pack }: { command: string; pack: Buffer },
  meanwhile: () => Promise<unknown>,
): Promise<{ status: number; text: string }> {
  const answered = Promise.withResolvers<{ status: number; text: string }>();
  const sending = httpRequest(`${scene.address}/ada/work.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${person.token}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
  });
  sending.on('error', answered.reject);
  sending.on('response', (answer) => {
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => chunks.push(chunk));
    answer.on('error', answered.reject);
    answer.on('end', () =>
      answered.resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString('latin1') }),
    );
  });
  sending.write(Buffer.concat([packetLine(`${command}\0report-status side-band-64k`), FLUSH]));
  sending.write(pack.subarray(0, -20));
  await sleep(A_WHILE_MS);
  await meanwhile();
  sending.end(pack.subarray(-20));
  return await answered.promise;
}

it.concurrent.each([
  ['write no more', 'removed', () => ada.call('DELETE', '/repos/ada/work/collaborators/bob')],
  [
    'push there no more',
    'protected',
    () => ada.call('POST', '/repos/ada/work/branch_protections', { rule_name: 'protected' }),
  ],
] as const)(
  'who may %s moves nothing with a push that began before',
  { timeout: 150_000 },
  async (_may, name, change) => {
    await grant();
    const branch = await turn(() => newBranch(name));
    const before = await refs();
    const answer = await pushSlowly(bob, branch, change);
    expect(answer).toMatchObject({ status: 403, text: expect.stringContaining('push it again') });
    expect((await refs()).split('\n').filter((line) => line.includes(`/${name} `))).toEqual([]);
    expect(before).not.toContain(`/${name} `);
    const intents = () =>
      scene.sql.rows`select id from :schema.pushes where details::text like ${`%${name}%`}`;
    await vi.waitFor(async () => expect(await intents()).toEqual([]), 40_000);
  },
);

it.concurrent('who still may pushes as slowly as he likes', async () => {
  const branch = await turn(() => newBranch('slow'));
  const answer = await pushSlowly(ada, branch, async () => {});
  expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('ok refs/heads/slow') });
  expect(await refs()).toContain('refs/heads/slow ');
});

let turns: Promise<unknown> = Promise.resolve();
/** One work tree for all. */
function turn<T>(work: () => Promise<T>): Promise<T> {
  const mine = turns.then(work);
  turns = mine.catch(() => {});
  return mine;
}

it('more commands than memory is for are refused before the pack, and nothing moves', async () => {
  const before = await refs();
  const tip = await git(bare, 'rev-parse', 'main');
  const lines = Array.from({ length: 100_001 }, (_, n) => packetLine(`${NONE} ${tip} refs/heads/many-${n}`));
  lines[0] = packetLine(`${NONE} ${tip} refs/heads/many-0\0report-status`);
  const answer = await fetch(`${scene.address}/ada/work.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${ada.token}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
    body: Buffer.concat([...lines, FLUSH]),
  });
  expect([answer.status, await answer.text()]).toEqual([
    422,
    expect.stringContaining('more than 100000 refs'),
  ]);
  expect(await refs()).toBe(before);
  const authorization = `Bearer ${ada.token}`;
  const url = `${scene.address}/ada/work.git/info/refs?service=git-receive-pack`;
  expect((await request(url, 'GET', undefined, { authorization })).status).toBe(200);
});
