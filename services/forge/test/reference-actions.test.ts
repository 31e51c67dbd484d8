import { silentLog } from '@croft/runtime';
import { openDatabase } from '@croft/sql';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../src/context.ts';
import { Links } from '../src/links.ts';
import { followIssueText } from '../src/references/follow-texts.ts';
import * as issues from '../src/store/issues/issues.ts';
import { commit, type Person, pushedRepository, useForge } from './forge.ts';
import { referenceScene } from './reference-scene.ts';

const scene = useForge();
const { issue, comment, references, stateOf, settled } = referenceScene(scene, () => ada);
let ada: Person; // owns tools and secret
let wim: Person; // writes to tools
let eve: Person; // owns evil
let tree: string;
beforeAll(async () => {
  [ada, wim, eve] = [scene.person('ada'), scene.person('wim'), scene.person('eve')];
  for (const person of [wim, eve]) await person.call('GET', '/user');
  tree = await pushedRepository(ada, 'tools', scene.folder);
  await ada.call('POST', '/user/repos', { name: 'secret', private: true });
  await eve.call('POST', '/user/repos', { name: 'evil' });
  await ada.call('PUT', '/repos/ada/tools/collaborators/wim', { permission: 'write' });
});

/** A pull request with commits of its own; nobody merges it. */
async function pull(branch: string, body: string): Promise<number> {
  await git(tree, 'checkout', '-q', '-B', branch, 'main');
  await commit(tree, { [`${branch}.txt`]: branch }, branch);
  await git(tree, 'push', '-q', '-f', 'origin', branch);
  await git(tree, 'checkout', '-q', 'main');
  const made = await ada.call('POST', '/repos/ada/tools/pulls', {
    title: branch,
    body,
    head: branch,
    base: 'main',
  });
  expect(made.status, made.text).toBe(201);
  return made.body.number;
}
async function edit(path: string, body: string, who = ada): Promise<void> {
  expect((await who.call('PATCH', `/repos/ada/tools/${path}`, { body })).status).toBeLessThan(300);
  await settled();
}
const actions = async (repository: string, number: number) =>
  (await references(repository, number)).map((entry) => entry['ref_action']);

describe('what a text wants of an issue', () => {
  it('is what a merge would do: the text of a pull request wants something, of issues, and nothing else does', async () => {
    const target = await issue('ada/tools', 'Wanted');
    const other = await pull('wanted', `closes #${target}`);
    await comment('ada/tools', other, `reopens #${target}`);
    await issue('ada/tools', 'Says so', `closes #${target} and closes #${other}`);
    await pull('wants', `closes #${other}`);
    await settled();
    expect(await references('ada/tools', target)).toMatchObject([
      { type: 'pull_ref', ref_action: 'closes' },
      { type: 'comment_ref', ref_action: 'none' },
      { type: 'issue_ref', ref_action: 'none' },
    ]);
    expect(await actions('ada/tools', other)).toEqual(['none', 'none']);
  });

  it('is nothing in another repository where its author may not do it', async () => {
    const [foreign, secret] = [await issue('eve/evil', 'Hers', '', eve), await issue('ada/secret', 'Ada’s')];
    await pull('elsewhere', `closes eve/evil#${foreign} and closes ada/secret#${secret}`);
    await settled();
    expect(await actions('eve/evil', foreign)).toEqual(['none']);
    expect(await actions('ada/secret', secret)).toEqual(['closes']);
  });

  it('follows the text up and down, until it does not name the issue any more', async () => {
    const target = await issue('ada/tools', 'Edited');
    const stays = await issue('ada/tools', 'Stays');
    const number = await pull('edited', `closes #${target}, see #${stays}`);
    await settled();
    expect(await actions('ada/tools', target)).toEqual(['closes']);
    for (const [body, action] of [
      ['see #N', 'none'],
      ['reopens #N', 'reopens'],
      ['', 'neutered'],
      ['closes #N', 'closes'],
      ['`closes #N`', 'neutered'],
    ] as const) {
      await edit(`pulls/${number}`, `${body.replace('N', String(target))}, see #${stays}`);
      expect(await actions('ada/tools', target)).toEqual([action]);
      expect(await actions('ada/tools', stays)).toEqual(['none']);
    }
    expect(await stateOf('ada/tools', target)).toBe('open');
  });

  it('is gone with the last word of it in a comment', async () => {
    const [target, source] = [await issue('ada/tools', 'Named'), await issue('ada/tools', 'Naming')];
    const id = await comment('ada/tools', source, `see #${target}`);
    await settled();
    await edit(`issues/comments/${id}`, 'nothing');
    expect(await actions('ada/tools', target)).toEqual(['neutered']);
    await edit(`issues/comments/${id}`, `still #${target}`);
    expect(await actions('ada/tools', target)).toEqual(['none']);
  });

  it('stays where somebody edits who does not know of the issue, as long as the text names it', async () => {
    const secret = await issue('ada/secret', 'Hidden');
    const number = await pull('hidden', `closes ada/secret#${secret}`);
    await settled();
    await edit(`pulls/${number}`, `This closes ada/secret#${secret}.`, wim);
    expect(await actions('ada/secret', secret)).toEqual(['closes']);
    await edit(`pulls/${number}`, `This reopens ada/secret#${secret}.`, wim);
    expect(await actions('ada/secret', secret)).toEqual(['none']);
    await edit(`pulls/${number}`, `This closes ada/none#${secret}.`, wim);
    expect(await actions('ada/secret', secret)).toEqual(['neutered']);
  });
});

describe('a text that is edited while it is followed', () => {
  it('is told of as it is afterwards', async () => {
    const [former, latter] = [await issue('ada/tools', 'Former'), await issue('ada/tools', 'Latter')];
    const number = await issue('ada/tools', 'Raced');
    await settled();
    await using stack = new AsyncDisposableStack();
    const database = stack.adopt(
      openDatabase({ url: scene.databaseUrl, schema: 'forge', log: silentLog }),
      (one) => one.close(),
    );
    const context = { database, links: new Links(scene.address) } as unknown as Context;
    const row = await scene.sql.row<{ id: number; poster_id: number }>`
      select id, poster_id from :schema.issues where title = 'Raced'`;
    const now = (await issues.mapByIds(database.autocommit(), [row?.id ?? 0])).get(row?.id ?? 0);
    if (row === undefined || now === undefined) throw new Error('the issue is missing');
    const signal = new AbortController().signal;
    // It was read before an edit that has been followed already.
    const saying = { actorId: row.poster_id, issue: { ...now, body: `see #${former}` }, isNew: true };
    await followIssueText(context, saying, signal);
    expect(await actions('ada/tools', former)).toEqual(['neutered']);
    await edit(`issues/${number}`, `see #${latter}`);
    await followIssueText(context, { ...saying, isNew: false }, signal);
    expect(await actions('ada/tools', former)).toEqual(['neutered']);
    expect(await actions('ada/tools', latter)).toEqual(['none']);
  });
});
