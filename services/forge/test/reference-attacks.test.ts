import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushedRepository, useForge } from './forge.ts';
import { referenceScene } from './reference-scene.ts';

const scene = useForge();
const { issue, timeline, stateOf, settled } = referenceScene(scene, () => ada);
let ada: Person; // owns tools, which everybody reads, and secret, which nobody does
let eve: Person; // proposes from a fork, and owns evil
let forked: string;
beforeAll(async () => {
  [ada, eve] = [scene.person('ada'), scene.person('eve')];
  await eve.call('GET', '/user');
  await pushedRepository(ada, 'tools', scene.folder);
  await ada.call('POST', '/user/repos', { name: 'secret', private: true });
  const made = await eve.call('POST', '/repos/ada/tools/forks', { name: 'tools' });
  if (made.status !== 202) throw new Error(made.text);
  forked = join(scene.folder, 'eves');
  await git(scene.folder, 'clone', '-q', eve.remote('eve/tools'), forked);
});

/** An issue that was closed. */
async function done(repository: string, title: string): Promise<number> {
  const number = await issue(repository, title);
  await ada.call('PATCH', `/repos/${repository}/issues/${number}`, { state: 'closed' });
  return number;
}
/** What happened to an issue besides being named. */
const changes = async (repository: string, number: number) =>
  (await timeline(repository, number))
    .map((entry) => entry['type'])
    .filter((type) => type === 'close' || type === 'reopen');
/** A pull request of eve's from her fork, with one commit. */
async function propose(
  branch: string,
  { message = branch, ...more }: { message?: string; title?: string; body?: string },
): Promise<number> {
  await git(forked, 'fetch', '-q', ada.remote('ada/tools'), 'main');
  await git(forked, 'checkout', '-q', '-B', branch, 'FETCH_HEAD');
  await commit(forked, { [`${branch}.txt`]: branch }, message);
  await git(forked, 'push', '-q', '-f', 'origin', branch);
  const pull = { head: `eve:${branch}`, base: 'main', title: branch, ...more };
  const made = await eve.call('POST', '/repos/ada/tools/pulls', pull);
  expect(made.status, made.text).toBe(201);
  return made.body.number;
}
async function merge(number: number, wish: object, who = ada): Promise<void> {
  const merged = await who.call('POST', `/repos/ada/tools/pulls/${number}/merge`, wish);
  expect(merged.status, merged.text).toBe(200);
  await settled();
}

describe('attack: a stranger’s words do what only those may who merge them', () => {
  it('by the text of a pull request', async () => {
    const [open, over] = [await issue('ada/secret', 'Open'), await done('ada/secret', 'Over')];
    const here = await issue('ada/tools', 'Here');
    const body = `<!-- closes ada/secret#${open} -->\nreopens ada/secret#${over}, closes #${here}`;
    await merge(await propose('by-text', { body }), { Do: 'merge' });
    expect([await stateOf('ada/secret', open), await changes('ada/secret', open)]).toEqual(['open', []]);
    expect([await stateOf('ada/secret', over), await changes('ada/secret', over)]).toEqual([
      'closed',
      ['close'],
    ]);
    // In the repository itself that is for whoever merges.
    expect(await stateOf('ada/tools', here)).toBe('closed');
  });

  it.each(['merge', 'rebase', 'rebase-merge', 'squash'])('by the message of a commit: %s', async (style) => {
    const [open, over] = [await issue('ada/secret', 'Open'), await done('ada/secret', 'Over')];
    const here = await issue('ada/tools', 'Here');
    const message = `Do it\n\ncloses ada/secret#${open}\nreopens ada/secret#${over}\ncloses #${here}`;
    const number = await propose(`by-${style}`, { message });
    await merge(number, { Do: style, ...(style === 'squash' ? { MergeMessageField: message } : {}) });
    expect([await stateOf('ada/secret', open), await changes('ada/secret', open)]).toEqual(['open', []]);
    expect([await stateOf('ada/secret', over), await changes('ada/secret', over)]).toEqual([
      'closed',
      ['close'],
    ]);
    expect(await stateOf('ada/tools', here)).toBe('closed');
  });

  it.each(['merge', 'squash'])(
    'by the title of a pull request, which a %s has in its message',
    async (style) => {
      const open = await issue('ada/secret', 'Open');
      const title = `closes ada/secret#${open}`;
      await merge(await propose(`by-title-${style}`, { title }), { Do: style });
      expect([await stateOf('ada/secret', open), await changes('ada/secret', open)]).toEqual(['open', []]);
    },
  );

  it('by a commit in a branch of hers that somebody else brings up to date', async () => {
    const open = await issue('ada/secret', 'Open');
    // The default branch of her fork: there commits close.
    const message = `closes ada/secret#${open}`;
    const number = await propose('main', { message, title: 'From main' });
    const ahead = { content: 'eA==', message: 'ahead', branch: 'main' };
    expect((await ada.call('POST', '/repos/ada/tools/contents/ahead.txt', ahead)).status).toBe(201);
    await eve.call('PATCH', `/repos/ada/tools/pulls/${number}`, { allow_maintainer_edit: true });
    const before = await git(forked, 'rev-parse', 'main');
    const updated = await ada.call('POST', `/repos/ada/tools/pulls/${number}/update?style=rebase`);
    expect(updated.status, updated.text).toBe(200);
    await settled();
    const shown = await ada.call('GET', `/repos/ada/tools/pulls/${number}`);
    expect(shown.body['head']).not.toMatchObject({ sha: before });
    expect([await stateOf('ada/secret', open), await changes('ada/secret', open)]).toEqual(['open', []]);
  });

  it('by a commit that comes to a fork from the original', async () => {
    const open = await issue('ada/secret', 'Open');
    const tree = await pushedRepository(eve, 'evil', scene.folder);
    expect((await ada.call('POST', '/repos/eve/evil/forks', {})).status).toBe(202);
    await git(tree, 'checkout', '-q', '-B', 'main');
    await commit(tree, { 'bait.txt': 'y' }, `closes ada/secret#${open}`);
    await git(tree, 'push', '-q', '-f', 'origin', 'main');
    const synced = await ada.call('POST', '/repos/ada/evil/merge-upstream', { branch: 'main' });
    expect(synced.status, synced.text).toBe(200);
    await settled();
    expect([await stateOf('ada/secret', open), await changes('ada/secret', open)]).toEqual(['open', []]);
  });

  it('unless she may do it herself', async () => {
    const named = await issue('ada/secret', 'Shared');
    await ada.call('PUT', '/repos/ada/secret/collaborators/eve', { permission: 'write' });
    const other = await issue('ada/secret', 'By a commit');
    const message = `closes ada/secret#${other}`;
    await merge(await propose('allowed', { message, body: `closes ada/secret#${named}` }), { Do: 'merge' });
    expect([await stateOf('ada/secret', named), await stateOf('ada/secret', other)]).toEqual([
      'closed',
      'closed',
    ]);
    await ada.call('DELETE', '/repos/ada/secret/collaborators/eve');
  });
});
