import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { commit, lines, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let wes: Person;
let tree: string;
let bare: string;
beforeAll(async () => {
  ada = scene.person('ada');
  wes = scene.person('wes');
  await wes.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
  await scene.sql.run`
    insert into :schema.collaborators (repository_id, user_id, level)
    select r.id, u.id, 2 from :schema.repositories r, :schema.users u where r.name = 'work' and u.login = 'wes'`;
  for (const branch of ['free', 'locked', 'listed', 'forward', 'files'])
    await git(tree, 'push', '-q', 'origin', `main:${branch}`);
});
beforeEach(async () => {
  await scene.sql.run`delete from :schema.branch_protections`;
});

/** Options of a protection that says nothing but what is given. */
async function protect(rule: string, options: object): Promise<void> {
  const nothing = {
    enable_push: true,
    enable_push_whitelist: false,
    push_whitelist_usernames: [],
    push_whitelist_teams: [],
    enable_force_push: false,
    enable_force_push_allowlist: false,
    force_push_allowlist_usernames: [],
    force_push_allowlist_teams: [],
    protected_file_patterns: '',
    unprotected_file_patterns: '',
    require_signed_commits: false,
  };
  await scene.sql.run`
    insert into :schema.branch_protections (repository_id, rule_name, options, created_at, updated_at)
    select id, ${rule}, ${JSON.stringify({ ...nothing, ...options })}::jsonb, now(), now()
    from :schema.repositories where name = 'work'`;
}

/** Runs a push that is to be refused in part or whole, and gives what git tells its user. */
async function push(person: Person, ...refs: string[]): Promise<string> {
  const done = await git(tree, 'push', person.remote('ada/work'), ...refs).then(
    () => 'it went through',
    (error: Error) => error.message,
  );
  return done;
}

const refs = () => git(bare, 'for-each-ref', '--format=%(objectname) %(refname)');
const tip = (name: string) => git(bare, 'rev-parse', name);

/** A push of which nothing may stay, neither refs nor rows. */
async function refused(person: Person, pushed: readonly string[], message: RegExp): Promise<void> {
  const before = await refs();
  expect(await push(person, ...pushed)).toMatch(message);
  expect(await refs()).toBe(before);
  expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
}

describe('a protected branch', () => {
  it('is refused in the protocol, with the reason, for owners as for writers', async () => {
    await protect('locked', { enable_push: false });
    await commit(tree, { 'a.txt': 'a' }, 'a');
    const reason =
      /remote: Not allowed to push to protected branch locked[\s\S]*! \[remote rejected\] main -> locked \(Not allowed to push to protected branch locked\)/;
    await refused(wes, ['main:locked'], reason);
    await refused(ada, ['main:locked'], reason);
    await refused(
      ada,
      [':locked'],
      /\[remote rejected\] locked \(branch locked is protected from deletion\)/,
    );
  });

  it('that is not there yet, by its pattern', async () => {
    await protect('release/**', { enable_push: false });
    await refused(wes, ['main:release/1/x'], /Not allowed to push to protected branch release\/1\/x/);
    expect(await push(wes, 'main:releases')).toBe('it went through');
  });

  it('holds nobody up who pushes to others at once; with --atomic it does', async () => {
    await protect('locked', { enable_push: false });
    await commit(tree, { 'b.txt': 'b' }, 'b');
    const before = await tip('locked');
    expect(await push(wes, 'main:locked', 'main:free', 'main:refs/tags/t1')).toMatch(
      /remote rejected.*locked/,
    );
    expect([await tip('locked'), await tip('free'), await tip('t1')]).toEqual([
      before,
      await git(tree, 'rev-parse', 'main'),
      await git(tree, 'rev-parse', 'main'),
    ]);
    await commit(tree, { 'c.txt': 'c' }, 'c');
    await refused(wes, ['--atomic', 'main:locked', 'main:free'], /another ref of the atomic push/);
  });

  it('for which only some are listed', async () => {
    const row = await scene.sql.row<{ id: number }>`select id from :schema.users where login = 'wes'`;
    const listed = { enable_push_whitelist: true, push_whitelist_usernames: [row?.id] };
    await protect('listed', listed);
    await commit(tree, { 'd.txt': 'd' }, 'd');
    await refused(ada, ['main:listed'], /Not allowed to push/);
    expect(await push(wes, 'main:listed')).toBe('it went through');
    expect(await tip('listed')).toBe(await git(tree, 'rev-parse', 'main'));
  });

  it('goes forward and not back, without force', async () => {
    await protect('forward', {});
    await commit(tree, { 'e.txt': 'e' }, 'e');
    expect(await push(wes, 'main:forward')).toBe('it went through');
    expect(await tip('forward')).toBe(await git(tree, 'rev-parse', 'main'));
    await refused(wes, ['-f', 'main~1:forward'], /\(branch forward is protected from force push\)/);
    await git(tree, 'checkout', '-q', '-b', 'other', 'main~1');
    await commit(tree, { 'e.txt': 'other e' }, 'other e');
    await refused(ada, ['-f', 'other:forward'], /remote: branch forward is protected from force push/);
    // In one push with what is free: each gets its own answer.
    expect(await push(ada, '-f', 'other:forward', 'other:free')).toMatch(
      /remote rejected\] other -> forward/,
    );
    expect(await tip('free')).toBe(await git(tree, 'rev-parse', 'other'));
    await refused(ada, ['--atomic', '-f', 'other:forward', 'main:free'], /atomic|protected/);
    await git(tree, 'checkout', '-q', 'main');
    await scene.sql.run`delete from :schema.branch_protections`;
    await protect('forward', { enable_force_push: true });
    expect(await push(wes, '-f', 'other:forward')).toBe('it went through');
    expect(await refs()).not.toContain('refs/staged');
  });

  it('goes forward together with others, atomically', async () => {
    await protect('forward', {});
    await push(ada, '-f', 'main:forward', 'main:free');
    await scene.sql.run`delete from :schema.branch_protections`;
    await push(ada, '-f', 'main~1:forward');
    await protect('forward', {});
    const ahead = await commit(tree, { 'together.txt': 'x' }, 'together');
    expect(await push(wes, '--atomic', 'main:forward', 'main:free', 'main:refs/tags/together')).toBe(
      'it went through',
    );
    expect([await tip('forward'), await tip('free'), await tip('together')]).toEqual([ahead, ahead, ahead]);
    expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
    await refused(wes, ['--atomic', 'main:refs/pull/9/head', `main~1:refs/heads/forward`], /rejected/);
  });

  it('whose files are kept, and of which some are free', async () => {
    await push(ada, '-f', 'main:files');
    await protect('files', { protected_file_patterns: 'secret/**;*.lock' });
    await git(tree, 'checkout', '-q', '-b', 'touches', 'main');
    await commit(tree, { 'secret/key': 'x' }, 'touch');
    await refused(ada, ['touches:files'], /protected from changing file secret\/key/);
    await git(tree, 'checkout', '-q', 'main');
    await commit(tree, { 'plain.txt': 'x' }, 'plain');
    expect(await push(wes, 'main:files')).toBe('it went through');
    await scene.sql.run`delete from :schema.branch_protections`;
    await protect('files', { enable_push: false, unprotected_file_patterns: 'docs/**' });
    await commit(tree, { 'docs/a.md': 'x' }, 'docs');
    expect(await push(wes, 'main:files')).toBe('it went through');
    await commit(tree, { 'docs/b.md': 'x', 'code.ts': 'x' }, 'docs and code');
    await refused(wes, ['main:files'], /Not allowed to push/);
    expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  it('that takes signed commits only takes none: no signature can be verified', async () => {
    await protect('locked', { require_signed_commits: true });
    await commit(tree, { 'f.txt': 'f' }, 'f');
    await refused(ada, ['main:locked'], /signed commits only/);
  });

  it('moves by its own hand only from where the client saw it', async () => {
    await protect('forward', {});
    await push(ada, 'main:forward');
    const clones = await Promise.all(
      [1, 2, 3, 4].map(async (one) => {
        const clone = join(scene.folder, `racer-${one}`);
        await git(scene.folder, 'clone', '-q', '-b', 'forward', wes.remote('ada/work'), clone);
        await commit(clone, { [`racer-${one}.txt`]: 'x' }, `racer ${one}`);
        return clone;
      }),
    );
    const done = await Promise.allSettled(
      clones.map((clone) => git(clone, 'push', '-q', 'origin', 'forward')),
    );
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const winner = clones[done.findIndex(({ status }) => status === 'fulfilled')] as string;
    expect(await tip('forward')).toBe(await git(winner, 'rev-parse', 'HEAD'));
    expect(await refs()).not.toContain('refs/staged');
  });
});

describe('what a push may not bring, the API does not either', () => {
  const branches = '/repos/ada/work/branches';
  /** Asks as a writer and as the owner; nothing may come of it. */
  async function denied(method: string, path: string, body: object, message: RegExp): Promise<void> {
    const before = await refs();
    for (const person of [wes, ada]) {
      const answer = await person.call(method, path, body);
      expect([answer.status, answer.body.message]).toEqual([403, expect.stringMatching(message)]);
    }
    expect(await refs()).toBe(before);
    expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  }

  it('files that are kept, by moving, making and renaming a branch', async () => {
    await git(tree, 'push', '-q', 'origin', 'main:kept');
    const locking = await pushBranch(tree, 'locking', { 'x.lock': 'x' });
    const plain = await pushBranch(tree, 'plain', { 'plain.txt': 'plain' });
    await protect('kept', { protected_file_patterns: '*.lock' });
    await protect('release/*', { protected_file_patterns: '*.lock' });
    const reason = /protected from changing file x\.lock/;
    await refused(wes, ['locking:kept'], reason);
    await denied('PUT', `${branches}/kept`, { new_commit_id: locking }, reason);
    await denied('PUT', `${branches}/kept`, { new_commit_id: locking, force: true }, reason);
    const from = (old_branch_name: string) => ({ new_branch_name: 'release/1', old_branch_name });
    await denied('POST', branches, from('locking'), reason);
    await denied('POST', branches, { new_branch_name: 'release/1', old_ref_name: locking }, reason);
    await denied('PATCH', `${branches}/locking`, { name: 'release/1' }, reason);
    expect((await wes.call('PUT', `${branches}/kept`, { new_commit_id: plain })).status).toBe(204);
    expect((await wes.call('POST', branches, from('plain'))).status).toBe(201);
    expect((await wes.call('PATCH', `${branches}/plain`, { name: 'release/2' })).status).toBe(204);
    expect([await tip('kept'), await tip('release/1'), await tip('release/2')]).toEqual([
      plain,
      plain,
      plain,
    ]);
  });

  it('what a new branch has from another one, with a change that is free', async () => {
    const coded = await pushBranch(tree, 'coded', { 'code.ts': 'x' });
    await protect('version/*', { enable_push: false, unprotected_file_patterns: 'docs/**' });
    const change = (branch: string) => ({ branch, new_branch: 'version/1', content: '' });
    const file = '/repos/ada/work/contents/docs/free.md';
    await denied('POST', file, change('coded'), /Not allowed to push to protected branch version\/1/);
    await denied('POST', branches, { new_branch_name: 'version/1', old_ref_name: coded }, /Not allowed/);
    expect((await wes.call('POST', file, change('main'))).status).toBe(201);
    expect(await git(bare, 'diff', '--name-only', 'main', 'version/1')).toBe('docs/free.md');
  });
});

describe('what a push answers', () => {
  const pushed = async (...options: string[]) => {
    // git tells its user what the server says on standard error only.
    const { promisify } = await import('node:util');
    const { execFile } = await import('node:child_process');
    const { gitEnvironment } = await import('@croft/testing');
    const run = await promisify(execFile)('git', ['push', ...options], { cwd: tree, env: gitEnvironment });
    return run.stderr;
  };

  it('where a pull request for a new branch is made; not for others', async () => {
    await git(tree, 'checkout', '-q', '-b', 'fix/ü 1'.replace(' ', '-'), 'main');
    await commit(tree, { 'hint.txt': 'x' }, 'hint');
    const said = await pushed('origin', 'HEAD');
    expect(said).toContain("remote: Create a pull request for 'fix/ü-1':");
    expect(said).toContain(`remote:   ${scene.address}/ada/work/compare/main...fix/%C3%BC-1`);
    await commit(tree, { 'hint.txt': 'y' }, 'more');
    expect(await pushed('origin', 'HEAD')).not.toContain('pull request');
    expect(await pushed('origin', ':fix/ü-1', 'main:refs/tags/no-hint')).not.toContain('pull request');
    await git(tree, 'checkout', '-q', 'main');
  });

  it('push options are taken', async () => {
    await git(tree, 'checkout', '-q', '-b', 'opted', 'main');
    await git(tree, 'push', '-q', '-o', 'topic=x', '-o', 'title=A title', 'origin', 'opted');
    expect(await tip('opted')).toBe(await git(tree, 'rev-parse', 'opted'));
    await git(tree, 'checkout', '-q', 'main');
  });

  it('refs of pull requests and of our own are read-only', async () => {
    for (const ref of ['refs/pull/1/head', 'refs/staged/1/0', 'refs/heads/refs/heads/x', 'refs/x/y'])
      await refused(ada, [`main:${ref}`], /rejected/);
  });

  it('names that the API cannot say are for nothing new', async () => {
    for (const name of ['HEAD', '-x', '@', 'x'.repeat(256)])
      for (const folder of ['refs/heads', 'refs/tags'])
        await refused(ada, [`main:${folder}/${name}`], /no branch or tag can have this name here/);
    expect(await push(ada, 'main:refs/notes/HEAD')).toBe('it went through');
    await push(ada, '-f', 'main:forward');
    await protect('forward', {});
    await commit(tree, { 'odd.txt': 'w' }, 'odd');
    await refused(ada, ['--atomic', 'main:forward', 'main:refs/heads/HEAD'], /no branch or tag/);
  });

  it('what has such a name goes forward and away, also with what waits for its commits', async () => {
    const odd = ['refs/heads/HEAD', 'refs/heads/-x', 'refs/tags/HEAD'];
    for (const ref of odd) await git(bare, 'update-ref', ref, 'main');
    await push(ada, '-f', 'main:forward');
    await protect('forward', {});
    const next = await commit(tree, { 'odd.txt': 'x' }, 'odd');
    expect(await push(ada, 'main:refs/heads/HEAD')).toBe('it went through');
    const moved = ['main:forward', 'main:refs/heads/-x', '+main:refs/tags/HEAD'];
    expect(await push(ada, '--atomic', ...moved)).toBe('it went through');
    expect(await Promise.all(odd.map(tip))).toEqual([next, next, next]);
    expect(await push(ada, ':refs/heads/HEAD')).toBe('it went through');
    await commit(tree, { 'odd.txt': 'y' }, 'more');
    const gone = ['main:forward', ':refs/heads/-x', ':refs/tags/HEAD'];
    expect(await push(ada, '--atomic', ...gone)).toBe('it went through');
    for (const ref of odd) expect(await refs()).not.toContain(` ${ref}`);
  });

  it('many branches and tags at once', async () => {
    const many = Array.from({ length: 60 }, (_, index) => `main:refs/heads/many/${index}`);
    const marks = Array.from({ length: 60 }, (_, index) => `main:refs/tags/many-${index}`);
    expect(await push(wes, ...many, ...marks)).toBe('it went through');
    expect((await git(bare, 'for-each-ref', 'refs/heads/many', 'refs/tags/many-*')).split('\n')).toHaveLength(
      120,
    );
    const gone = many.map((one) => one.replace('main', ''));
    expect(await push(wes, ...gone)).toBe('it went through');
  });

  it('to pull requests: their heads follow a forced push', async () => {
    await pushBranch(tree, 'followed', { 'followed.txt': lines(1, 3) });
    const pull = { head: 'followed', base: 'main', title: 'Followed' };
    const { number } = (await ada.call('POST', '/repos/ada/work/pulls', pull)).body;
    const head = await pushBranch(tree, 'followed', { 'followed.txt': lines(1, 4) });
    expect((await ada.call('GET', `/repos/ada/work/pulls/${number}`)).body.head.sha).toBe(head);
  });

  it('a large push to a protected branch is read to its end and refused', async () => {
    await protect('locked', { enable_push: false });
    await commit(tree, { 'large.bin': randomBytes(3_000_000) }, 'large');
    await refused(wes, ['main:locked'], /Not allowed to push/);
  });
});
