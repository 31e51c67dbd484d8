import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { git, mountJournaledDisk } from '@croft/testing';
import { expect, it } from 'vitest';
import { commit, pushedRepository, useForge } from './forge.ts';

// What was answered survives a power cut right after it: the database, which lies elsewhere, has it for good by then.

const scene = useForge();
const AT = '/repos/ada/work';

it('what was answered is on the disk, and no lock of git is', async (context) => {
  const repositories = join(scene.dataFolder, 'repositories');
  await using disk = await mountJournaledDisk(context, repositories, scene.folder);
  const ada = scene.person('ada');
  const tree = await pushedRepository(ada, 'work', scene.folder);
  const bare = await scene.bare('ada', 'work');
  const merge = async (number: number) => {
    const name = `topic-${number}`;
    await ada.call('POST', `${AT}/contents/${name}`, {
      content: 'dG9waWM=',
      message: name,
      new_branch: name,
    });
    const pull = await ada.call('POST', `${AT}/pulls`, { title: name, head: name, base: 'main' });
    return () => ada.call('POST', `${AT}/pulls/${pull.body.number}/merge`, { Do: 'merge' });
  };
  // Two: the first one starts what later ones find at hand.
  const [first, second] = [await merge(1), await merge(2)];
  const push = async () => {
    await git(tree, 'pull', '-q', '--rebase', 'origin', 'main');
    await commit(tree, { 'pushed.txt': 'pushed' }, 'pushed');
    await git(tree, 'push', '-q', 'origin', 'main');
  };
  const branch = { new_branch_name: 'deep/er', old_branch_name: 'main' };
  const doings: readonly [string, () => Promise<unknown>][] = [
    ['a merge', first],
    ['another merge', second],
    ['a file', () => ada.call('POST', `${AT}/contents/file`, { content: 'ZmlsZQ==', message: 'file' })],
    ['a new branch', () => ada.call('POST', `${AT}/branches`, branch)],
    ['a push', push],
    ['a branch less', () => ada.call('DELETE', `${AT}/branches/deep/er`)],
  ];
  for (const [what, act] of doings) {
    const before = await git(bare, 'for-each-ref');
    await act();
    await using after = await disk.afterPowerCut();
    const refs = await git(bare, 'for-each-ref');
    expect([what, refs]).not.toEqual([what, before]);
    const kept = join(after.folder, bare.slice(repositories.length));
    expect([what, await git(kept, 'for-each-ref')]).toEqual([what, refs]);
    expect([what, await git(kept, 'fsck', '--strict', '--no-dangling')]).toEqual([what, '']);
    const files = await readdir(kept, { recursive: true });
    expect([what, files.filter((name) => name.endsWith('.lock'))]).toEqual([what, []]);
  }
});
