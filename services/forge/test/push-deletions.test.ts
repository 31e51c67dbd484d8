import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { NONE, pushByHand } from './push-by-hand.ts';
import { rowsOf } from './rows-of.ts';

// Deletions that clients of git do not send: git itself deletes without comparing where it does not know the old id.

const scene = useForge();
const INVENTED = '1'.repeat(40);
let ada: Person;
let tree: string;
let bare: string;
let feat: string;
let number: number;
beforeAll(async () => {
  ada = scene.person('ada');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
  feat = await pushBranch(tree, 'feat', { 'feat.txt': 'feat' });
  await git(tree, 'push', '-q', 'origin', 'main:refs/notes/n');
  const pull = { head: 'feat', base: 'main', title: 'Feat' };
  ({ number } = (await ada.call('POST', '/repos/ada/work/pulls', pull)).body);
  await ada.call('POST', '/repos/ada/work/releases', { tag_name: 'v1' });
  await recordHappenings(scene);
});

const push = (commands: readonly string[], capabilities?: string) =>
  pushByHand(scene, ada, 'ada/work', commands, capabilities);

const TABLES = ['repositories', 'issues', 'pulls', 'comments', 'releases', 'pushes', 'told'];
const everything = async () => [await git(bare, 'for-each-ref'), await rowsOf(scene, ...TABLES)];

describe('a deletion of', () => {
  const refs = ['refs/heads/main', 'refs/heads/feat', 'refs/tags/v1', 'refs/notes/n', 'refs/heads/nobody'];

  it.each(refs)('%s from no id, or from one that is not there, is refused', async (ref) => {
    const before = await everything();
    for (const old of [NONE, INVENTED]) {
      const reason = `ng ${ref} it is not where the push says it is`;
      expect(await push([`${old} ${NONE} ${ref}`])).toContain(reason);
      expect(await push([`${old} ${NONE} ${ref}`], 'report-status delete-refs atomic')).toContain(reason);
    }
    expect(await everything()).toEqual(before);
  });

  it('what is not there is refused together with what waits for its commits', async () => {
    const main = await git(bare, 'rev-parse', 'main');
    await git(tree, 'push', '-q', 'origin', 'main:kept');
    await ada.call('POST', '/repos/ada/work/branch_protections', { rule_name: 'kept', enable_push: true });
    const before = await everything();
    const commands = [`${main} ${NONE} refs/heads/nobody`, `${main} ${feat} refs/heads/kept`];
    expect(await push(commands, 'report-status delete-refs atomic')).toMatch(
      /ng refs\/heads\/nobody it is not where[\s\S]*ng refs\/heads\/kept another ref/,
    );
    expect(await everything()).toEqual(before);
    await scene.sql.run`delete from :schema.branch_protections`;
    await git(tree, 'push', '-q', 'origin', ':kept');
  });

  it('a name that is longer than a process takes is refused', async () => {
    const commands = Array.from(
      { length: 60 },
      (_, n) => `${feat} ${NONE} refs/heads/${n}${'x'.repeat(60_000)}`,
    );
    expect((await push(commands)).match(/ng refs\/heads\/\d+x+ it is not where/g)).toHaveLength(60);
  });

  it('what is elsewhere is refused, and others of the push go through unless it is atomic', async () => {
    const main = await git(bare, 'rev-parse', 'main');
    await git(tree, 'push', '-q', 'origin', 'main:spare');
    const before = await everything();
    expect(await push([`${main} ${NONE} refs/heads/feat`])).toContain('ng refs/heads/feat ');
    const commands = [`${NONE} ${NONE} refs/heads/feat`, `${main} ${NONE} refs/heads/spare`];
    const answer = await push(commands, 'report-status delete-refs atomic');
    expect(answer).toContain('ng refs/heads/spare another ref of the atomic push is refused');
    expect(await everything()).toEqual(before);
    expect(await push(commands)).toMatch(/ng refs\/heads\/feat [\s\S]*ok refs\/heads\/spare/);
    expect(await git(bare, 'for-each-ref', '--format=%(refname)', 'refs/heads')).toBe(
      'refs/heads/feat\nrefs/heads/main',
    );
  });

  it('a branch where it is closes what is open from it, and is told of with the commit it had', async () => {
    expect(await push([`${feat} ${NONE} refs/heads/feat`])).toContain('ok refs/heads/feat');
    const { body } = await ada.call('GET', `/repos/ada/work/pulls/${number}`);
    expect([body['state'], await rowsOf(scene, 'pushes')]).toEqual(['closed', [[]]]);
    const told = await scene.sql.rows<{ payload: object }>`
      select payload from :schema.told where payload->>'ref' = 'refs/heads/feat'`;
    expect(told.map(({ payload }) => payload)).toMatchObject([{ kind: 'ref', before: feat, after: NONE }]);
  });
});
