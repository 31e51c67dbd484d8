import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushedRepository, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { referenceScene } from './reference-scene.ts';

const scene = useForge();
const { issue, timeline, references, stateOf, settled } = referenceScene(scene, () => ada);
let ada: Person;
let tree: string;
beforeAll(async () => {
  ada = scene.person('ada');
  tree = await pushedRepository(ada, 'tools', scene.folder);
  await recordHappenings(scene);
});

describe('merged pull requests', () => {
  it('close and open again what their text says', async () => {
    const number = await issue('ada/tools', 'By a pull request');
    const again = await issue('ada/tools', 'Again by a pull request');
    await ada.call('PATCH', `/repos/ada/tools/issues/${again}`, { state: 'closed' });
    await git(tree, 'checkout', '-q', '-B', 'feature', 'main');
    await commit(tree, { 'feature.txt': 'x' }, 'feature');
    await git(tree, 'push', '-q', '-f', 'origin', 'feature');
    const made = await ada.call('POST', '/repos/ada/tools/pulls', {
      title: 'Feature',
      body: `Closes #${number}, reopens #${again}`,
      head: 'feature',
      base: 'main',
    });
    expect(made.status, made.text).toBe(201);
    await settled();
    expect(await references('ada/tools', number)).toMatchObject([
      { type: 'pull_ref', ref_action: 'closes', ref_issue: { title: 'Feature' } },
    ]);
    expect(await stateOf('ada/tools', number)).toBe('open');
    expect(await stateOf('ada/tools', again)).toBe('closed');
    const merged = await ada.call('POST', `/repos/ada/tools/pulls/${made.body.number}/merge`, {
      Do: 'merge',
    });
    expect(merged.status, merged.text).toBe(200);
    await settled();
    expect(await stateOf('ada/tools', number)).toBe('closed');
    expect(await stateOf('ada/tools', again)).toBe('open');
  });
});

describe('a merge that is followed again', () => {
  it('does nothing to what somebody opened or closed meanwhile', async () => {
    const closed = await issue('ada/tools', 'Closed by it');
    const opened = await issue('ada/tools', 'Opened by it');
    await ada.call('PATCH', `/repos/ada/tools/issues/${opened}`, { state: 'closed' });
    await git(tree, 'checkout', '-q', '-B', 'again', 'main');
    await commit(tree, { 'again.txt': 'x' }, 'again');
    await git(tree, 'push', '-q', '-f', 'origin', 'again');
    const body = `closes #${closed}, reopens #${opened}`;
    const pull = { title: 'Again', body, head: 'again', base: 'main' };
    const { number } = (await ada.call('POST', '/repos/ada/tools/pulls', pull)).body;
    const merge = `/repos/ada/tools/pulls/${number}/merge`;
    expect((await ada.call('POST', merge, { Do: 'merge' })).status).toBe(200);
    await settled();
    const states = async () => [await stateOf('ada/tools', closed), await stateOf('ada/tools', opened)];
    expect(await states()).toEqual(['closed', 'open']);
    await ada.call('PATCH', `/repos/ada/tools/issues/${closed}`, { state: 'open' });
    await ada.call('PATCH', `/repos/ada/tools/issues/${opened}`, { state: 'closed' });
    await settled();
    const before = [await timeline('ada/tools', closed), await timeline('ada/tools', opened)];
    // As after a failure between what it does and the end of its announcement.
    const told = () => scene.sql.row<{ id: number }>`
      select count(*) from :schema.told t join :schema.issues i on i.id = (t.payload->>'issueId')::bigint
      where i.title = 'Again' and t.payload->>'action' = 'closed'`;
    const row = await told();
    await scene.sql.run`
      insert into :schema.outbox (topic, payload, created_at, run_at, lane)
      select 'happening', t.payload, now(), now(), ''
      from :schema.told t join :schema.issues i on i.id = (t.payload->>'issueId')::bigint
      where i.title = 'Again' and t.payload->>'action' = 'closed'`;
    await settled();
    expect(await told()).not.toEqual(row);
    expect(await states()).toEqual(['open', 'closed']);
    expect([await timeline('ada/tools', closed), await timeline('ada/tools', opened)]).toEqual(before);
  });
});

describe('merged pull requests into another branch', () => {
  it('close what their text says they close, too; commits there do not', async () => {
    const [named, committed] = [
      await issue('ada/tools', 'By a pull request elsewhere'),
      await issue('ada/tools', 'By a commit elsewhere'),
    ];
    await git(tree, 'push', '-q', '-f', 'origin', 'main:develop');
    await git(tree, 'checkout', '-q', '-B', 'for-develop', 'main');
    await commit(tree, { 'develop.txt': 'x' }, `fixes #${committed}`);
    await git(tree, 'push', '-q', '-f', 'origin', 'for-develop');
    const made = await ada.call('POST', '/repos/ada/tools/pulls', {
      title: `Fixes #${named}`,
      head: 'for-develop',
      base: 'develop',
    });
    expect(made.status, made.text).toBe(201);
    const merged = await ada.call('POST', `/repos/ada/tools/pulls/${made.body.number}/merge`, {
      Do: 'merge',
    });
    expect(merged.status, merged.text).toBe(200);
    await settled();
    expect(await stateOf('ada/tools', named)).toBe('closed');
    expect(await stateOf('ada/tools', committed)).toBe('open');
  });
});
