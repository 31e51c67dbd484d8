import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { git, gitEnvironment } from '@croft/testing';
import { beforeAll, expect, it } from 'vitest';
import { commit } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { useKillableForge } from './killable-forge.ts';
import { stopHeader } from './steps.ts';

// Pushes for review, killed before the first thing they do, before the second, and so on until one comes through: one that
// makes a pull request, and one that moves it. Each in a repository of its own, as they stand in one queue there.

const forge = useKillableForge();
const bob = forge.person('bob');
/** More than any of them takes. */
const ROUNDS = 40;
const SUBJECTS = ['made', 'moved'] as const;
type Subject = (typeof SUBJECTS)[number];
const bares = new Map<string, string>();
beforeAll(async () => {
  await recordHappenings(forge);
  await bob.call('GET', '/user');
  for (const name of SUBJECTS) {
    const { body } = await forge.ada.call('POST', '/user/repos', { name });
    bares.set(name, join(forge.dataFolder, 'repositories', `${body.id}.git`));
    await git(forge.tree, 'push', '-q', forge.ada.remote(`ada/${name}`), 'main');
  }
});

/** Pushes what the tree is at; whether that came through, or the step that is not among those it may pass. */
async function push(name: Subject, topic: string, passing?: readonly string[]): Promise<boolean | string> {
  const { 'x-stop': stop } = stopHeader(name, passing ?? []);
  const header = ['-c', `http.extraHeader=x-stop: ${stop}`];
  const target = `HEAD:refs/for/main/${topic}`;
  const args = [...(passing === undefined ? [] : header), 'push', bob.remote(`ada/${name}`), target];
  const pushed = new Promise<boolean>((resolve) => {
    execFile('git', args, { cwd: forge.tree, env: gitEnvironment }, (error) => resolve(error === null));
  });
  return await Promise.race(passing === undefined ? [pushed] : [pushed, forge.stopped(name)]);
}

/** The heads of a topic, each where row and ref say. */
async function headsOf(name: Subject, topic: string): Promise<string[]> {
  const rows = await forge.sql.rows<{ head: string; number: number }>`
    select p.head_sha as head, i.number from :schema.pulls p join :schema.issues i on i.id = p.issue_id
      join :schema.repositories r on r.id = i.repository_id
    where r.name = ${name} and p.topic = ${topic}`;
  for (const { head, number } of rows)
    expect(await git(bares.get(name) ?? '', 'rev-parse', `refs/pull/${number}/head`)).toBe(head);
  return rows.map(({ head }) => head);
}
const told = async (name: Subject, action: string) =>
  (
    await forge.sql.rows`
      select t.id from :schema.told t join :schema.repositories r on r.id = (t.payload->>'repositoryId')::bigint
      where r.name = ${name} and t.payload->>'action' = ${action}`
  ).length;

it('a push for review has made or moved its pull request as a whole or not at all', {
  timeout: 300_000,
}, async () => {
  let open: readonly Subject[] = SUBJECTS;
  const steps = new Map<Subject, string[]>(SUBJECTS.map((name) => [name, []]));
  for (let round = 1; open.length > 0; round++) {
    expect(round).toBeLessThan(ROUNDS);
    const topic = `t-${round}`;
    await git(forge.tree, 'checkout', '-q', '--detach', 'main');
    const first = await commit(forge.tree, { [topic]: '1' }, 'first');
    if (open.includes('moved')) expect(await push('moved', topic)).toBe(true);
    const second = await commit(forge.tree, { [topic]: '2' }, 'second');
    const before = await told('moved', 'synchronized');
    const outcomes = await Promise.all(open.map((name) => push(name, topic, steps.get(name))));
    await forge.kill();
    await forge.start();
    expect(await forge.sql.rows`select id from :schema.pushes`).toEqual([]);
    for (const [index, name] of open.entries()) {
      const bare = bares.get(name) ?? '';
      expect(await git(bare, 'for-each-ref', '--format=%(refname)', 'refs/staged', 'refs/heads')).toBe(
        'refs/heads/main',
      );
      expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
      const heads = await headsOf(name, topic);
      const possible = name === 'made' ? [[], [second]] : [[first], [second]];
      expect(possible).toContainEqual(heads);
      if (outcomes[index] === true) expect(heads).toEqual([second]);
      else steps.get(name)?.push(String(outcomes[index]));
      // Pushed again, it is there once, and was told of once.
      expect(await push(name, topic)).toBe(true);
      expect(await headsOf(name, topic)).toEqual([second]);
      expect(await told(name, 'opened')).toBe(round);
      if (name === 'moved') expect(await told(name, 'synchronized')).toBe(before + 1);
    }
    open = open.filter((_, index) => outcomes[index] !== true);
  }
  // Among them those that could leave something half done.
  for (const name of SUBJECTS) {
    expect(steps.get(name)).toContainEqual(expect.stringMatching(/\bpulls\b/));
    expect(steps.get(name)).toContainEqual(expect.stringContaining('refs/pull/'));
  }
});
