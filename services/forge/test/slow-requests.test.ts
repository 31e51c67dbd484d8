import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { git } from '@croft/testing';
import { afterEach, expect, it } from 'vitest';
import { plainBody } from '../src/git-http/request-body.ts';
import { pushedRepository, useForge } from './forge.ts';

// One program for all strangers together: whoever is slow to say what he wants does not keep the others from it.

const scene = useForge({ environment: { FORGE_REQUIRE_SIGNIN: 'false', FORGE_GIT_HTTP_PROCESSES: '2' } });
const open: (() => void)[] = [];
afterEach(() => {
  for (const end of open.splice(0)) end();
});

/** A stranger who begins to say what he wants, and does not go on. */
async function stall(repository: string, version: number, begun: string): Promise<void> {
  const sent = Promise.withResolvers<void>();
  const call = httpRequest(new URL(`${scene.address}/${repository}.git/git-upload-pack`), {
    method: 'POST',
    headers: {
      'git-protocol': `version=${version}`,
      'content-type': 'application/x-git-upload-pack-request',
    },
    agent: false,
  });
  call.on('error', () => {});
  call.on('response', (answer) => answer.resume());
  open.push(() => call.destroy());
  call.write(begun, () => sent.resolve());
  await sent.promise;
}

it('strangers who do not end their requests hold no program', { timeout: 120_000 }, async () => {
  const ada = scene.person('ada');
  const tree = await pushedRepository(ada, 'open', scene.folder);
  const tip = await git(tree, 'rev-parse', 'HEAD');
  const want = `0032want ${tip}\n`;
  const long = `0014command=fetch\n0001${want.repeat(30_000)}`;
  for (const version of [2, 0, 1]) await stall('ada/open', version, want);
  for (let one = 0; one < 6; one++) await stall('ada/open', 2, long);
  for (const version of [2, 0]) {
    const name = `copy-${version}`;
    const address = `${scene.address}/ada/open.git`;
    await git(scene.folder, '-c', `protocol.version=${version}`, 'clone', '-q', address, name);
    expect(await git(join(scene.folder, name), 'rev-parse', 'HEAD')).toBe(tip);
  }
});

it('a request that goes on and on is ended all the same', async () => {
  let sent = 0;
  async function* drops() {
    for (;;) {
      sent++;
      yield Buffer.from('x');
      await sleep(5);
    }
  }
  const body = plainBody(Readable.from(drops(), { objectMode: false }), undefined, {
    maxBytes: 1_000_000,
    idleMs: 600_000,
    totalMs: 300,
  });
  const read = async () => {
    for await (const _ of body);
  };
  await expect(read()).rejects.toMatchObject({ kind: 'timed-out' });
  expect(sent).toBeGreaterThan(0);
});
