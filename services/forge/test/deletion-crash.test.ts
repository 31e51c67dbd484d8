import { git } from '@croft/testing';
import { expect, it } from 'vitest';
import { pushBranch } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { useKillableForge } from './killable-forge.ts';
import { stopHeader } from './steps.ts';

// The deletion of a pull request, killed before the first thing it does, before the second, and so on until one comes through.

const forge = useKillableForge();
const { ada } = forge;

it('a pull request is deleted with its ref or stays with it, whenever the forge ends', {
  timeout: 150_000,
}, async () => {
  const { tree, bare, sql } = forge;
  await recordHappenings(forge);
  const steps: string[] = [];
  const outcomes: string[] = [];
  for (let isOver = false; !isOver; ) {
    expect(steps.length).toBeLessThan(20);
    const branch = `b-${steps.length}`;
    const head = await pushBranch(tree, branch, { [branch]: '1' });
    const { number } = (
      await ada.call('POST', '/repos/ada/work/pulls', { head: branch, base: 'main', title: branch })
    ).body;
    await git(tree, 'push', '-q', 'origin', `:${branch}`);
    const stopped = forge.stopped('deletion');
    const path = `/repos/ada/work/issues/${number}`;
    const asked = ada.call('DELETE', path, undefined, stopHeader('deletion', steps));
    const answer = await Promise.race([stopped, asked.catch(() => stopped)]);
    isOver = typeof answer === 'object';
    if (typeof answer === 'string') {
      steps.push(answer);
      await forge.kill();
      await forge.start();
    }
    const rows = await sql.rows`
      select head_sha, written_sha from :schema.pulls p join :schema.issues i on i.id = p.issue_id
      where i.number = ${number}`;
    const ref = await git(bare, 'for-each-ref', '--format=%(objectname)', `refs/pull/${number}`);
    const told = await sql.rows`
      select id from :schema.told where payload->>'action' = 'deleted' and payload->'deleted'->>'number' = ${number}::text`;
    const isThere = rows.length > 0;
    expect({ steps, rows, ref, told: told.length }).toEqual({
      steps,
      rows: isThere ? [{ head_sha: head, written_sha: head }] : [],
      ref: isThere ? head : '',
      told: isThere ? 0 : 1,
    });
    if (isThere) expect((await ada.call('GET', `/repos/ada/work/pulls/${number}.diff`)).text).toContain('+1');
    outcomes.push(isThere ? 'there' : 'gone');
  }
  // Also between the ref and the rows.
  expect(steps.some((step) => step.includes('refs/pull/'))).toBe(true);
  expect(outcomes.filter((one) => one === 'there').length).toBeGreaterThan(2);
  expect(outcomes.at(-1)).toBe('gone');
});
