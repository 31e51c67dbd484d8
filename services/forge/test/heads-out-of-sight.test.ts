import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

// Pull requests whose head is in another repository that their poster, or who reopens them, may read no more.

const scene = useForge();
let ada: Person;
let bob: Person;
let zoe: Person;
let eve: Person;
beforeAll(async () => {
  [ada, bob, zoe, eve] = [scene.person('ada'), scene.person('bob'), scene.person('zoe'), scene.person('eve')];
  for (const person of [ada, bob, zoe, eve]) await person.call('GET', '/user');
});

/** Calls that must come out well. */
async function done(who: Person, method: string, path: string, body?: object) {
  const reply = await who.call(method, path, body);
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
  return reply.body;
}
let made = 0;
async function repository(who: Person, more: object = {}): Promise<string> {
  const name = `r${++made}`;
  await done(who, 'POST', '/user/repos', { name, auto_init: true, default_branch: 'main', ...more });
  return `${who.name}/${name}`;
}
async function fork(who: Person, of: string): Promise<string> {
  const name = `f${++made}`;
  await done(who, 'POST', `/repos/${of}/forks`, { name });
  return `${who.name}/${name}`;
}
/** A commit with a file, on a branch that is there or is made of `main`; where the branch is afterwards. */
async function put(who: Person, at: string, file: string, branch: string, from?: string): Promise<string> {
  const where = from === undefined ? { branch } : { branch: from, new_branch: branch };
  const content = Buffer.from(file).toString('base64');
  await done(who, 'POST', `/repos/${at}/contents/${file}`, { content, message: file, ...where });
  return git(await bareOf(at), 'rev-parse', branch);
}
async function open(who: Person, at: string, head: string, more: object = {}): Promise<number> {
  return (await done(who, 'POST', `/repos/${at}/pulls`, { head, base: 'main', title: head, ...more })).number;
}
const bareOf = (at: string) => scene.bare(...(at.split('/') as [string, string]));
const member = (who: Person, at: string, login: string, permission: string) =>
  done(who, 'PUT', `/repos/${at}/collaborators/${login}`, { permission });
const isHere = async (at: string, commit: string) =>
  git(await bareOf(at), 'cat-file', '-e', commit).then(
    () => true,
    () => false,
  );
/** All there is to see of the pull requests of a repository, and what they stand on. */
const seen = async (at: string) => ({
  refs: await git(await bareOf(at), 'for-each-ref'),
  rows: await rowsOf(scene, 'pulls', 'comments(issue_id, kind)', 'issues(id, closed_at)'),
});
const diff = async (who: Person, at: string, number: number) =>
  (await who.call('GET', `/repos/${at}/pulls/${number}.diff`)).text;

/** It stays where it was seen, whoever looks, and is merged as that. */
async function staysAt(at: string, number: number, head: string, viewers: readonly Person[]): Promise<void> {
  for (const who of viewers) {
    expect(await diff(who, at, number)).toContain('+shown.txt');
    expect(await diff(who, at, number)).not.toContain('secret');
    const { body } = await who.call('GET', `/repos/${at}/pulls/${number}`);
    expect([body['state'], body.head.sha, body.mergeable]).toEqual(['open', head, true]);
    const listed = await who.call('GET', `/repos/${at}/pulls`);
    expect(listed.items.map(({ head: { sha } }) => sha)).toEqual([head]);
  }
}

describe('attack: commits of a repository the poster may read no more', () => {
  it('stay there when a public one becomes private, and come when it is public again', async () => {
    const original = await repository(ada);
    const forked = await fork(bob, original);
    const shown = await put(ada, original, 'shown.txt', 'work', 'main');
    const number = await open(bob, forked, 'ada:work');
    await done(ada, 'PATCH', `/repos/${original}`, { private: true });
    expect((await bob.call('GET', `/repos/${original}`)).status).toBe(404);
    const before = await seen(forked);
    const secret = await put(ada, original, 'secret.txt', 'work');
    expect(await seen(forked)).toEqual(before);
    expect(await isHere(forked, secret)).toBe(false);
    // Not even for who may read both.
    await staysAt(forked, number, shown, [eve, bob, ada]);
    await done(ada, 'PATCH', `/repos/${original}`, { private: false });
    const next = await put(ada, original, 'more.txt', 'work');
    await expect
      .poll(async () => (await bob.call('GET', `/repos/${forked}/pulls/${number}`)).body.head.sha)
      .toBe(next);
    expect(await git(await bareOf(forked), 'rev-parse', `refs/pull/${number}/head`)).toBe(next);
  });

  it('are not merged either', async () => {
    const original = await repository(ada);
    const forked = await fork(bob, original);
    const shown = await put(ada, original, 'shown.txt', 'work', 'main');
    const number = await open(bob, forked, 'ada:work');
    await done(ada, 'PATCH', `/repos/${original}`, { private: true });
    const secret = await put(ada, original, 'secret.txt', 'work');
    expect((await bob.call('POST', `/repos/${forked}/pulls/${number}/merge`, { Do: 'merge' })).status).toBe(
      200,
    );
    const bare = await bareOf(forked);
    expect(await git(bare, 'rev-parse', 'main^2')).toBe(shown);
    expect(await git(bare, 'ls-tree', '--name-only', 'main')).toBe('README.md\nshown.txt');
    expect(await isHere(forked, secret)).toBe(false);
  });

  it('stay there when a reader is removed', async () => {
    const original = await repository(ada, { private: true });
    await member(ada, original, 'bob', 'read');
    const forked = await fork(bob, original);
    const shown = await put(ada, original, 'shown.txt', 'work', 'main');
    const number = await open(bob, forked, 'ada:work');
    await done(ada, 'DELETE', `/repos/${original}/collaborators/bob`);
    const before = await seen(forked);
    const secret = await put(ada, original, 'secret.txt', 'work');
    expect(await seen(forked)).toEqual(before);
    expect(await isHere(forked, secret)).toBe(false);
    await staysAt(forked, number, shown, [bob]);
    // As he can read them by then, they come as soon as that branch moves.
    await member(ada, original, 'bob', 'read');
    const next = await put(ada, original, 'next.txt', 'work');
    await expect
      .poll(async () => (await bob.call('GET', `/repos/${forked}/pulls/${number}`)).body.head.sha)
      .toBe(next);
  });

  it('stay in a private fork whose collaborator is removed, which is closed with its branch all the same', async () => {
    const original = await repository(ada);
    const forked = await fork(bob, original);
    await member(bob, forked, 'zoe', 'write');
    await done(bob, 'PATCH', `/repos/${forked}`, { private: true });
    const shown = await put(zoe, forked, 'shown.txt', 'feat', 'main');
    const number = await open(zoe, original, 'bob:feat');
    await done(bob, 'DELETE', `/repos/${forked}/collaborators/zoe`);
    const before = await seen(original);
    const secret = await put(bob, forked, 'secret.txt', 'feat');
    expect(await seen(original)).toEqual(before);
    expect(await isHere(original, secret)).toBe(false);
    await staysAt(original, number, shown, [eve, zoe, bob]);
    // Neither closing nor a start looks past it.
    await done(zoe, 'PATCH', `/repos/${original}/pulls/${number}`, { state: 'closed' });
    await done(zoe, 'PATCH', `/repos/${original}/pulls/${number}`, { state: 'open' });
    await scene.restart(async () => {
      await scene.sql.run`
        insert into :schema.pushes (repository_id, details, started_at)
        select id, '{"moves": []}', now() from :schema.repositories where name = ${`${forked.split('/')[1]}`}`;
    });
    await expect.poll(() => rowsOf(scene, 'pushes')).toEqual([[]]);
    expect(await isHere(original, secret)).toBe(false);
    await staysAt(original, number, shown, [eve]);
    await done(bob, 'DELETE', `/repos/${forked}/branches/feat`);
    await expect
      .poll(async () => (await eve.call('GET', `/repos/${original}/pulls/${number}`)).body)
      .toMatchObject({ state: 'closed', merged: false });
    expect(await git(await bareOf(original), 'rev-parse', `refs/pull/${number}/head`)).toBe(shown);
  });

  it('stay in a private fork whose poster has no account any more; from a public one they come', async () => {
    const original = await repository(ada);
    const forked = await fork(bob, original);
    const shown = await put(bob, forked, 'shown.txt', 'feat', 'main');
    const number = await open(bob, original, 'bob:feat');
    await scene.sql.run`
      update :schema.issues set poster_id = null where number = ${number}
        and repository_id = (select id from :schema.repositories where name = ${`${original.split('/')[1]}`})`;
    await done(bob, 'PATCH', `/repos/${forked}`, { private: true });
    const secret = await put(bob, forked, 'secret.txt', 'feat');
    expect(await isHere(original, secret)).toBe(false);
    await staysAt(original, number, shown, [eve, ada]);
    await done(bob, 'PATCH', `/repos/${forked}`, { private: false });
    const next = await put(bob, forked, 'next.txt', 'feat');
    await expect
      .poll(async () => (await eve.call('GET', `/repos/${original}/pulls/${number}`)).body.head.sha)
      .toBe(next);
  });
});

describe('attack: reopening what a private fork took back', () => {
  it.each(['pulls', 'issues'])('shows nothing of it to the others: PATCH /%s', async (kind) => {
    const original = await repository(ada);
    const forked = await fork(bob, original);
    await done(bob, 'PATCH', `/repos/${forked}`, { private: true });
    const shown = await put(bob, forked, 'shown.txt', 'feat', 'main');
    const number = await open(bob, original, 'bob:feat');
    await done(bob, 'PATCH', `/repos/${original}/pulls/${number}`, { state: 'closed' });
    const secret = await put(bob, forked, 'secret.txt', 'feat');
    expect((await ada.call('GET', `/repos/${forked}`)).status).toBe(404);
    const { refs } = await seen(original);
    await done(ada, 'PATCH', `/repos/${original}/${kind}/${number}`, { state: 'open' });
    expect((await seen(original)).refs).toBe(refs);
    await staysAt(original, number, shown, [eve, ada, bob]);
    expect(await isHere(original, secret)).toBe(false);
    expect(
      (await ada.call('POST', `/repos/${original}/pulls/${number}/merge`, { head_commit_id: secret })).status,
    ).toBe(409);
    expect((await ada.call('POST', `/repos/${original}/pulls/${number}/merge`, {})).status).toBe(200);
    expect(await git(await bareOf(original), 'rev-parse', 'main^2')).toBe(shown);
    expect(await isHere(original, secret)).toBe(false);
  });

  it('while its poster, who reads it, reopens it where it is', async () => {
    const original = await repository(ada);
    const forked = await fork(bob, original);
    await done(bob, 'PATCH', `/repos/${forked}`, { private: true });
    await put(bob, forked, 'shown.txt', 'feat', 'main');
    const number = await open(bob, original, 'bob:feat');
    await done(bob, 'PATCH', `/repos/${original}/pulls/${number}`, { state: 'closed' });
    const next = await put(bob, forked, 'next.txt', 'feat');
    const reopened = await done(bob, 'PATCH', `/repos/${original}/pulls/${number}`, { state: 'open' });
    expect(reopened.head.sha).toBe(next);
    expect(await git(await bareOf(original), 'rev-parse', `refs/pull/${number}/head`)).toBe(next);
    expect(await diff(eve, original, number)).toContain('+next.txt');
  });
});

describe('attack: a lent head that more people may read than the base', () => {
  it('does not get the commits of a base that became private', async () => {
    const original = await repository(ada);
    await member(ada, original, 'zoe', 'write');
    const forked = await fork(bob, original);
    await put(bob, forked, 'shown.txt', 'feat', 'main');
    const number = await open(bob, original, 'bob:feat', { allow_maintainer_edit: true });
    await done(ada, 'PATCH', `/repos/${original}`, { private: true });
    const secret = await put(ada, original, 'secret.txt', 'main');
    const kept = async () => [await seen(original), await seen(forked), await rowsOf(scene, 'pushes')];
    const before = await kept();
    for (const style of ['merge', 'rebase']) {
      const refused = await zoe.call('POST', `/repos/${original}/pulls/${number}/update?style=${style}`);
      expect(refused.status).toBe(403);
      expect(refused.body.message).toMatch(
        /^the base is private and the repository of the head is not: its owner/,
      );
    }
    expect(await kept()).toEqual(before);
    expect(await isHere(forked, secret)).toBe(false);
    await done(bob, 'PATCH', `/repos/${forked}`, { private: true });
    expect((await zoe.call('POST', `/repos/${original}/pulls/${number}/update`)).status).toBe(200);
    expect(await isHere(forked, secret)).toBe(true);
  });
});
