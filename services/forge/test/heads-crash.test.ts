import { git } from '@croft/testing';
import { expect, it } from 'vitest';
import { pushBranch } from './forge.ts';
import { useKillableForge } from './killable-forge.ts';
import { stopHeader } from './steps.ts';

// A branch that merges go into is the head of another pull request, which is to follow it however the forge ends.

const forge = useKillableForge();
const { ada } = forge;
const path = '/repos/ada/work/pulls';

it('killed before any step of a merge, pull requests from its base stand where that is after the next start', {
  timeout: 150_000,
}, async () => {
  const { tree, bare, sql } = forge;
  await git(tree, 'push', '-q', 'origin', 'main:refs/heads/step-release', 'main:refs/heads/step-base');
  const opened = { head: 'step-base', base: 'step-release', title: 'release' };
  // One that brings nothing yet is fine.
  const release = (await ada.call('POST', path, opened)).body.number;
  const steps: string[] = [];
  let merges = 0;
  for (let isOver = false; !isOver; ) {
    await git(tree, 'fetch', '-q', 'origin');
    const branch = `step-${steps.length}`;
    await pushBranch(tree, branch, { [branch]: '1' }, 'origin/step-base');
    const { number } = (await ada.call('POST', path, { head: branch, base: 'step-base', title: branch }))
      .body;
    const stopped = forge.stopped('merge');
    const asked = ada.call('POST', `${path}/${number}/merge`, {}, stopHeader('merge', steps));
    const answer = await Promise.race([stopped, asked.catch(() => stopped)]);
    isOver = typeof answer === 'object';
    if (typeof answer === 'string') {
      steps.push(answer);
      await forge.kill();
      await forge.start();
    }
    const row = await sql.row<{ head_sha: string; written_sha: string }>`
      select head_sha, written_sha from :schema.pulls p join :schema.issues i on i.id = p.issue_id
      where i.number = ${release}`;
    const tip = await git(bare, 'rev-parse', 'step-base');
    expect({ steps, ...row }).toEqual({ steps, head_sha: tip, written_sha: tip });
    expect(await sql.rows`select id from :schema.pushes`).toEqual([]);
    if ((await ada.call('GET', `${path}/${number}/merge`)).status === 204) merges++;
  }
  // Told of each of them, once.
  const { items } = await ada.call('GET', `/repos/ada/work/issues/${release}/timeline`);
  expect(items.filter((entry) => entry['type'] === 'pull_push')).toHaveLength(merges);
  // Both what the record ends and what comes behind it.
  expect(merges).toBeGreaterThan(3);
  expect(merges).toBeLessThan(steps.length);
});
