import { execFile } from 'node:child_process';
import { appendFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { git, gitEnvironment, temporaryFolder } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auth, forgeClient, type Session, signUpByMail } from './support/clients.ts';
import { croftState, postmaster } from './support/command-line.ts';
import { type Croft, type Place, placeFor, root, startCroft } from './support/croft.ts';
import { sampleRepository } from './support/sample-repository.ts';
import { dumpStates } from './support/stock-client.ts';
import { describeTree, expectSameTree, sampleTree } from './support/tree.ts';

// One real stream of data through all four products, in the order a team would meet them. The tests build on one
// another on purpose: each stands on what the ones before it left in the data folder.

const run = promisify(execFile);
const PASSWORD = 'correct horse battery staple';

let folder: { path: string } & AsyncDisposable;
let place: Place;
let croft: Croft;
let session: Session;
let token: string;
let work: string;
let tree: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  tree = join(folder.path, 'system');
  await mkdir(tree);
  await sampleTree(tree);
  place = await placeFor(join(folder.path, 'data'), { STATESVC_VAULT_SYSTEM: tree });
});
afterAll(async () => {
  await croft?.stop('SIGKILL').catch(() => {});
  await folder[Symbol.asyncDispose]();
});

const forge = (route: string, parameters?: Record<string, unknown>) =>
  forgeClient(croft, `token ${token}`)(route, parameters);
const remote = (repository: string) =>
  croft.forge.replace('http://', `http://${token}:x-oauth-basic@`) + `/ada/${repository}.git`;

const state = (...words: string[]) => croftState(place, words);

describe('the first start', () => {
  it('comes up in an empty folder and prints addresses and the administrator once', async () => {
    croft = await startCroft(place);
    for (const address of [croft.auth, croft.forge, croft.socket]) expect(croft.printed).toContain(address);
    const password = /password:?\s+(\S+)/i.exec(croft.printed)?.[1];
    const email = /(\S+@\S+)/.exec(croft.printed)?.[1];
    const signedIn = await auth(croft, 'POST', '/token?grant_type=password', { email, password });
    expect([signedIn.status, (signedIn.body as { user: { role: string } }).user.role]).toEqual([
      200,
      'service_role',
    ]);
  });
});

describe('auth', () => {
  it('signs a user up through the captured mail and in with the password', async () => {
    session = await signUpByMail(croft, place, 'ada@example.test', PASSWORD);
    const user = await auth(croft, 'GET', '/user', undefined, session.access_token);
    expect(user.body).toMatchObject({
      email: 'ada@example.test',
      role: 'authenticated',
      aud: 'authenticated',
    });
  });

  it('rotates the refresh token', async () => {
    const next = await auth(croft, 'POST', '/token?grant_type=refresh_token', {
      refresh_token: session.refresh_token,
    });
    expect(next.status).toBe(200);
    expect((next.body as Session).refresh_token).not.toBe(session.refresh_token);
    session = next.body as Session;
  });
});

describe('forge', () => {
  it('knows the user of auth and gives out a personal access token', async () => {
    const caller = forgeClient(croft, `Bearer ${session.access_token}`);
    expect((await caller('GET /user')).body).toMatchObject({ login: 'ada', email: 'ada@example.test' });
    const made = await caller('POST /users/{user}/tokens', { user: 'ada', name: 'laptop', scopes: ['all'] });
    expect(made.status).toBe(201);
    token = (made.body as { sha1: string }).sha1;
    expect(token).toMatch(/^[0-9a-f]{40}$/);
  });

  it('takes a repository of 500 commits, 2,000 files, renames, a binary and a 10 MB file by git push', async () => {
    work = join(folder.path, 'work');
    await mkdir(work);
    await sampleRepository(work);
    expect((await forge('POST /user/repos', { name: 'sample' })).status).toBe(201);
    await git(work, 'remote', 'add', 'origin', remote('sample'));
    await git(work, 'push', '-q', 'origin', 'main', 'feature');
    expect((await forge('GET /repos/{owner}/{repo}', { owner: 'ada', repo: 'sample' })).body).toMatchObject({
      empty: false,
      default_branch: 'main',
    });
  });

  it('takes the history of Croft itself and gives it back', async ({ skip }) => {
    if ((await git(root, 'rev-parse', '--is-shallow-repository')) === 'true') skip('this is a shallow clone');
    expect((await forge('POST /user/repos', { name: 'croft' })).status).toBe(201);
    await git(root, 'push', '-q', remote('croft'), 'HEAD:refs/heads/main');
    await git(folder.path, 'clone', '-q', remote('croft'), 'croft-again');
    expect(await git(join(folder.path, 'croft-again'), 'rev-parse', 'HEAD')).toBe(
      await git(root, 'rev-parse', 'HEAD'),
    );
  });

  it('keeps issues', async () => {
    const issues = 'repos/{owner}/{repo}/issues';
    const made = await forge(`POST /${issues}`, {
      owner: 'ada',
      repo: 'sample',
      title: 'Light',
      body: 'Let there be.',
    });
    expect([made.status, made.body]).toMatchObject([
      201,
      { number: 1, state: 'open', title: 'Light', user: { login: 'ada' } },
    ]);
    const closed = await forge(`PATCH /${issues}/{index}`, {
      owner: 'ada',
      repo: 'sample',
      index: 1,
      state: 'closed',
    });
    expect([closed.status, closed.body]).toMatchObject([201, { state: 'closed' }]);
    expect((await forge(`GET /${issues}`, { owner: 'ada', repo: 'sample' })).body).toEqual([]);
  });

  it('opens a pull request whose diff applies elsewhere', async () => {
    const made = await forge('POST /repos/{owner}/{repo}/pulls', {
      owner: 'ada',
      repo: 'sample',
      head: 'feature',
      base: 'main',
      title: 'A feature',
    });
    expect([made.status, made.body]).toMatchObject([
      201,
      { number: 2, state: 'open', mergeable: true, merged: false },
    ]);
    const diff = await forge('GET /repos/{owner}/{repo}/pulls/{index}.diff{?binary}', {
      owner: 'ada',
      repo: 'sample',
      index: 2,
      binary: true,
    });
    expect([diff.status, diff.headers.get('content-type')]).toMatchObject([
      200,
      expect.stringContaining('text/plain'),
    ]);
    await writeFile(join(folder.path, 'feature.diff'), diff.body as string);
    const elsewhere = join(folder.path, 'elsewhere');
    await git(folder.path, 'clone', '-q', work, elsewhere);
    await git(elsewhere, 'checkout', '-q', await git(work, 'merge-base', 'main', 'feature'));
    await git(elsewhere, 'apply', '--index', join(folder.path, 'feature.diff'));
    expect(await git(elsewhere, 'write-tree')).toBe(await git(work, 'rev-parse', 'feature^{tree}'));
  });

  it('merges it to the tree that plain git makes', async () => {
    const at = { owner: 'ada', repo: 'sample', index: 2 };
    expect((await forge('GET /repos/{owner}/{repo}/pulls/{index}/merge', at)).status).toBe(404);
    const merged = await forge('POST /repos/{owner}/{repo}/pulls/{index}/merge', { ...at, Do: 'merge' });
    expect([merged.status, merged.body]).toEqual([200, '']);
    expect((await forge('GET /repos/{owner}/{repo}/pulls/{index}/merge', at)).status).toBe(204);

    await git(folder.path, 'clone', '-q', remote('sample'), 'again');
    const again = join(folder.path, 'again');
    await git(work, 'checkout', '-q', 'main');
    await git(work, 'merge', '-q', '--no-ff', '-m', 'by plain git', 'feature');
    expect(await git(again, 'rev-parse', 'HEAD^{tree}')).toBe(await git(work, 'rev-parse', 'HEAD^{tree}'));
    expect(await git(again, 'rev-parse', 'HEAD^1', 'HEAD^2')).toBe(
      await git(work, 'rev-parse', 'HEAD^1', 'HEAD^2'),
    );
    expect(await git(again, 'log', '-1', '--format=%s')).toBe(
      `Merge pull request 'A feature' (#2) from feature into main`,
    );
    await git(again, 'fsck', '--strict');
  });
});

describe('state', () => {
  it('saves a real tree and brings every file, mode and link back', async () => {
    expect(await state('save', 'before')).toMatchObject({ code: 0, out: expect.stringContaining('before') });
    const saved = await describeTree(tree);
    await writeFile(join(tree, 'conf.d/0.conf'), 'changed\n');
    await rm(join(tree, 'script.sh'));
    await rename(join(tree, 'empty-file'), join(tree, 'renamed'));
    expect(await state('save', 'after')).toMatchObject({ code: 0 });
    expect((await state('list')).out).toBeTruthy();
    const shown = (await state('show')).out;
    expect(shown.indexOf('after')).toBeLessThan(shown.indexOf('before'));

    const restored = join(folder.path, 'restored');
    expect(await state('restore', 'before', restored)).toMatchObject({ code: 0 });
    expectSameTree(await describeTree(restored), saved);
  });

  it('removes a state and refuses what is not there', async () => {
    expect(await state('remove', 'after', '--yes')).toMatchObject({ code: 0 });
    expect((await state('show')).out).not.toContain('after');
    const missing = await state('remove', 'after', '--yes');
    expect(missing).toMatchObject({ code: 1, errors: expect.stringContaining('after') });
  });

  it('answers buf curl, which knows nothing but reflection', async () => {
    const { stdout } = await run(
      join(root, 'node_modules/.bin/buf'),
      [
        'curl',
        '--protocol',
        'grpc',
        '--http2-prior-knowledge',
        '--unix-socket',
        croft.socket,
        'http://localhost/statesvc.StateService/Version',
      ],
      { cwd: folder.path },
    );
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(stdout).toContain(`"version": "${version}"`);
  });

  it('answers a stock grpc-js client without metadata', async () => {
    expect(JSON.stringify(await dumpStates(croft.socket))).toContain('before');
  });
});

describe('an end and a new start', () => {
  it('ends with 0 on SIGTERM and finds everything again', async () => {
    expect(await croft.stop('SIGTERM')).toBe(0);
    croft = await startCroft(place);
    expect(croft.printed).not.toMatch(/password/i);
    const again = await auth(croft, 'POST', '/token?grant_type=refresh_token', {
      refresh_token: session.refresh_token,
    });
    expect(again.status).toBe(200);
    expect(
      (await forge('GET /repos/{owner}/{repo}/pulls/{index}', { owner: 'ada', repo: 'sample', index: 2 }))
        .body,
    ).toMatchObject({ merged: true });
    await git(folder.path, 'clone', '-q', remote('sample'), 'once-more');
    expect((await state('show')).out).toContain('before');
  });
});

describe('kill -9', () => {
  const at = { owner: 'ada', repo: 'sample' };

  const ROUNDS = 10;
  // A round takes three seconds, and ten beside what takes both processors.
  const KILLS = { timeout: 300_000 };

  /** Kills Croft, in every second round PostgreSQL before it; tells whether the action was still under way. */
  async function killDuring(round: number, action: () => Promise<unknown>, within: number): Promise<When> {
    let when: When = 'inside';
    const acted = action()
      .catch(() => {})
      .then(() => {
        when = 'after';
      });
    // Each round has a slice of the time of its own, so that some kills come early and some come late.
    const wait = ((round + Math.random()) / ROUNDS) * within;
    await new Promise((resolve) => setTimeout(resolve, wait));
    const fell: When = when;
    if (round % 2 === 1) process.kill(postmaster(place) as number, 'SIGKILL');
    await croft.stop('SIGKILL');
    await acted;
    croft = await startCroft(place);
    return fell;
  }

  it('during a push, ten times, leaves repositories that pass fsck', KILLS, async () => {
    const fell: When[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await git(work, 'checkout', '-q', '-B', `push-${round}`, 'main');
      await writeFile(join(work, `pushed-${round}`), Buffer.alloc(2_000_000, `${round} ${Math.random()}`));
      await git(work, 'add', '.');
      await git(work, 'commit', '-q', '-m', `push ${round}`);
      await git(work, 'remote', 'set-url', 'origin', remote('sample'));
      fell.push(await killDuring(round, () => git(work, 'push', '-q', 'origin', `push-${round}`), 250));
      await expectSound();
    }
    expect(fell).toContain('inside');
  });

  it('during a merge, ten times, leaves no half-merged pull request', KILLS, async () => {
    const fell: When[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await git(work, 'fetch', '-q', remote('sample'), 'main');
      await git(work, 'checkout', '-q', '-B', `merge-${round}`, 'FETCH_HEAD');
      await appendFile(join(work, 'run.sh'), `echo ${round}\n`);
      await git(work, 'commit', '-q', '-am', `merge ${round}`);
      await git(work, 'push', '-q', remote('sample'), `merge-${round}`);
      const made = await forge('POST /repos/{owner}/{repo}/pulls', {
        ...at,
        head: `merge-${round}`,
        base: 'main',
        title: `Merge ${round}`,
      });
      const index = (made.body as { number: number }).number;
      const merge = () =>
        forge('POST /repos/{owner}/{repo}/pulls/{index}/merge', { ...at, index, Do: 'merge' });
      fell.push(await killDuring(round, merge, 60));

      const pull = (await forge('GET /repos/{owner}/{repo}/pulls/{index}', { ...at, index })).body as Pull;
      await git(work, 'fetch', '-q', remote('sample'), 'main');
      const contained = await git(work, 'merge-base', '--is-ancestor', `merge-${round}`, 'FETCH_HEAD').then(
        () => true,
        () => false,
      );
      expect({ merged: pull.merged, state: pull.state }).toEqual(
        contained ? { merged: true, state: 'closed' } : { merged: false, state: 'open' },
      );
      if (contained) expect(await git(work, 'rev-list', 'FETCH_HEAD')).toContain(pull.merge_commit_sha);
      else
        expect(
          (await forge('POST /repos/{owner}/{repo}/pulls/{index}/merge', { ...at, index, Do: 'merge' }))
            .status,
        ).toBe(200);
      await expectSound();
    }
    expect(fell).toContain('inside');
  });

  it('during a save, ten times, leaves whole states or none', KILLS, async () => {
    const fell: When[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      for (let file = 0; file < 200; file++)
        await writeFile(join(tree, `conf.d/new-${round}-${file}`), `${round} ${file}\n`);
      fell.push(await killDuring(round, () => state('save', `crash-${round}`), 700));
      const shown = (await state('show')).out;
      if (!shown.includes(`crash-${round}`)) continue;
      const restored = join(folder.path, `restored-${round}`);
      expect(await state('restore', `crash-${round}`, restored)).toMatchObject({ code: 0 });
      expectSameTree(await describeTree(restored), await describeTree(tree));
    }
    expect(fell).toContain('inside');
    expect(await state('save', 'sound')).toMatchObject({ code: 0 });
  });

  it('leaves the other repositories alone', async () => {
    for (const { id } of (await forge('GET /user/repos')).body as { id: number }[]) await fsck(id);
  });

  /** Of the repository that was worked on, as the history of Croft takes longer than the rest of a round. */
  async function expectSound(): Promise<void> {
    await fsck(((await forge('GET /repos/{owner}/{repo}', at)).body as { id: number }).id);
  }

  async function fsck(id: number): Promise<void> {
    const repository = join(place.data, 'repositories', `${id}.git`);
    await run('git', ['-C', repository, 'fsck', '--strict', '--no-dangling'], { env: gitEnvironment });
  }
});

/** Where a kill fell: the action was under way, or had been answered. */
type When = 'inside' | 'after';

interface Pull {
  merged: boolean;
  state: string;
  merge_commit_sha: string | null;
}
