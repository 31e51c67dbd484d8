import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, expect, it } from 'vitest';
import { recordHappenings } from './happenings.ts';
import { useKillableForge } from './killable-forge.ts';
import { stopHeader } from './steps.ts';

// Merges of every style and updates of both, killed before the first thing they do, before the second, and so on until one
// comes through. Each has a repository of its own; in a round all of them stand before the same step when the process dies.

const forge = useKillableForge();
const { ada } = forge;
/** More than any of them takes. */
const ROUNDS = 45;

/** One that is killed. */
interface Subject {
  name: string;
  /** What is asked for. */
  path: string;
  body: object;
  /** Heads: each on the beginning of the base, or each on the one before. */
  heads: 'side' | 'row';
  /** How many commits the branch that moves gets, those of the other branch included. */
  commits: number;
}

const merge = (style: string, heads: Subject['heads'], commits: number, body: object = {}): Subject => ({
  name: style,
  path: 'merge',
  body: { Do: style, ...body },
  heads,
  commits,
});
const MERGES: readonly Subject[] = [
  merge('merge', 'side', 2),
  { ...merge('merge', 'side', 2, { delete_branch_after_merge: true }), name: 'merge-and-delete' },
  merge('squash', 'side', 1),
  merge('rebase', 'side', 1),
  merge('rebase-merge', 'side', 2),
  merge('fast-forward-only', 'row', 1),
  merge('manually-merged', 'row', 0),
];
const UPDATES: readonly Subject[] = [
  { name: 'update-merge', path: 'update?style=merge', body: {}, heads: 'side', commits: 2 },
  { name: 'update-rebase', path: 'update?style=rebase', body: {}, heads: 'side', commits: 2 },
];
const SUBJECTS = [...MERGES, ...UPDATES];

const bares = new Map<string, string>();
const inBare = (subject: Subject, ...args: string[]) => git(bares.get(subject.name) ?? '', ...args);
const branchOf = (subject: Subject, round: number) => `${subject.heads}-${round}`;

beforeAll(async () => {
  await recordHappenings(forge);
  const source = join(forge.folder, 'source.git');
  await git(forge.folder, 'init', '-q', '--bare', '-b', 'main', source);
  await fill(source);
  const allowed = { allow_fast_forward_only_merge: true, allow_manual_merge: true };
  for (const { name, heads } of SUBJECTS) {
    const made = await ada.call('POST', '/user/repos', { name });
    await ada.call('PATCH', `/repos/ada/${name}`, allowed);
    bares.set(name, join(forge.dataFolder, 'repositories', `${made.body.id}.git`));
    const base = heads === 'side' ? 'ahead' : 'main';
    const branches = `refs/heads/${heads}-*:refs/heads/${heads}-*`;
    await git(source, 'push', '-q', ada.remote(`ada/${name}`), `${base}:refs/heads/main`, branches);
  }
});

/** `main`, `ahead` of it by a commit, and heads, each of which brings a file. */
async function fill(source: string): Promise<void> {
  const load = spawn('git', ['--git-dir', source, 'fast-import', '--quiet'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const commit = (branch: string, file: string, from = '') =>
    `commit refs/heads/${branch}\ncommitter A <a@example.test> 1700000000 +0000\ndata 1\nx\n${from}` +
    `M 100644 inline ${file}\ndata 1\nx\n`;
  const from = (branch: string) => `from refs/heads/${branch}\n`;
  load.stdin.write(commit('main', 'README.md'));
  load.stdin.write(commit('ahead', 'ahead', from('main')));
  for (let round = 1; round <= ROUNDS; round++) {
    load.stdin.write(commit(`side-${round}`, `side-${round}`, from('main')));
    const before = round === 1 ? 'main' : `row-${round - 1}`;
    load.stdin.write(commit(`row-${round}`, `row-${round}`, from(before)));
  }
  load.stdin.end();
  await once(load, 'exit');
}

/** The branch that moves: that of the base, or the head when it is updated. */
const movingBranch = (subject: Subject, round: number) =>
  MERGES.includes(subject) ? 'main' : branchOf(subject, round);

/** What rows and repository say of a pull request, and how often what was announced. */
async function look(subject: Subject, round: number) {
  const row = await forge.sql.row<{ id: number; repository: number; head: string; merged: boolean }>`
    select i.id, i.repository_id as repository, p.head_sha as head, p.merged_at is not null as merged
    from :schema.pulls p join :schema.issues i on i.id = p.issue_id
      join :schema.repositories r on r.id = i.repository_id
    where r.name = ${subject.name} and i.number = ${round}`;
  const told = await forge.sql.rows<{ action: string | null; ref: string | null; after: string }>`
    select payload->>'action' as action, payload->>'ref' as ref, payload->>'after' as after from :schema.told
    where payload->>'issueId' = ${String(row?.id)}
      or payload->>'kind' = 'ref' and payload->>'repositoryId' = ${String(row?.repository)}`;
  const listed = await inBare(subject, 'for-each-ref', '--format=%(refname) %(objectname)');
  const refs = new Map(listed.split('\n').map((line) => line.split(' ') as [string, string]));
  const ref = `refs/heads/${movingBranch(subject, round)}`;
  const tip = refs.get(ref) ?? '';
  const head = `refs/heads/${branchOf(subject, round)}`;
  const countOf = (one: typeof told) => one.length;
  return {
    merged: row?.merged,
    head: row?.head,
    tip,
    branch: refs.get(head),
    kept: refs.get(`refs/pull/${round}/head`),
    told: {
      closed: countOf(told.filter(({ action }) => action === 'closed')),
      synchronized: countOf(told.filter(({ action }) => action === 'synchronized')),
      moved: countOf(told.filter((one) => one.ref === ref && one.after === tip)),
      deleted: countOf(told.filter((one) => one.ref === head && /^0+$/.test(one.after))),
    },
  };
}
type Look = Awaited<ReturnType<typeof look>>;

/** Asks for it. */
const ask = async (subject: Subject, round: number, headers = {}): Promise<number> => {
  const path = `/repos/ada/${subject.name}/pulls/${round}/${subject.path}`;
  return (await ada.call('POST', path, subject.body, headers)).status;
};

/** Asks for it until the first step before which it was never stopped; its name, or the answer's status when there is none. */
async function askAndStop(
  subject: Subject,
  round: number,
  steps: readonly string[],
): Promise<number | string> {
  const stopped = forge.stopped(subject.name);
  const answered = ask(subject, round, stopHeader(subject.name, steps)).catch(() => stopped);
  return await Promise.race([answered, stopped]);
}

/** Right after the next start: either it happened or it did not, for rows and repository alike. Says which. */
async function checkSettled(subject: Subject, round: number, before: Look): Promise<boolean> {
  expect(await inBare(subject, 'fsck', '--strict', '--no-dangling')).toBe('');
  const after = await look(subject, round);
  const byHand = subject.name === 'manually-merged';
  const moved = byHand ? after.merged === true : after.tip !== before.tip;
  if (MERGES.includes(subject)) expect(after.merged).toBe(moved);
  else expect(after.head).toBe(after.branch);
  expect(after.kept).toBe(after.head);
  expect(after.told).toEqual({
    closed: moved && MERGES.includes(subject) ? 1 : 0,
    synchronized: moved && !MERGES.includes(subject) ? 1 : 0,
    moved: moved && !byHand ? 1 : before.told.moved,
    deleted: after.branch === undefined ? 1 : 0,
  });
  return moved;
}

/** Asked for once more, it has happened once. */
async function checkRepeated(subject: Subject, round: number, before: Look, moved: boolean): Promise<void> {
  const settled = await look(subject, round);
  const done = MERGES.includes(subject) ? 405 : 200;
  expect(await ask(subject, round)).toBe(moved ? done : 200);
  if (!moved) expect(await checkSettled(subject, round, before)).toBe(true);
  const after = await look(subject, round);
  if (moved) expect(after).toEqual(settled);
  const count = await inBare(subject, 'rev-list', '--count', `${before.tip}..${after.tip}`);
  expect(Number(count)).toBe(subject.commits);
  const files = (await inBare(subject, 'ls-tree', '--name-only', after.tip)).split('\n');
  const heads = Array.from({ length: round }, (_, index) => branchOf(subject, index + 1));
  const brought = MERGES.includes(subject) ? heads : heads.slice(-1);
  expect(files).toEqual(['README.md', ...(subject.heads === 'side' ? ['ahead'] : []), ...brought].sort());
}

/** Opens a pull request whose number is that of the round. */
async function open(subject: Subject, round: number): Promise<void> {
  const pull = { head: branchOf(subject, round), base: 'main', title: `${round}` };
  const made = await ada.call('POST', `/repos/ada/${subject.name}/pulls`, pull);
  expect([made.status, made.body.number]).toEqual([201, round]);
  if (subject.name !== 'manually-merged') return;
  await inBare(subject, 'update-ref', 'refs/heads/main', made.body.head.sha);
  subject.body = { ...subject.body, MergeCommitID: made.body.head.sha };
}

it('killed before any of its steps, a merge or an update has happened as a whole or not at all', {
  timeout: 300_000,
}, async () => {
  const steps = new Map<Subject, string[]>(SUBJECTS.map((subject) => [subject, []]));
  let unfinished = SUBJECTS;
  for (let round = 1; unfinished.length > 0; round++) {
    await Promise.all(unfinished.map((subject) => open(subject, round)));
    const before = await Promise.all(unfinished.map((subject) => look(subject, round)));
    const outcomes = await Promise.all(
      unfinished.map((subject) => askAndStop(subject, round, steps.get(subject) ?? [])),
    );
    await forge.kill();
    await forge.start();
    expect(await forge.sql.rows`select pull_id from :schema.merges`).toEqual([]);
    expect(await forge.sql.rows`select id from :schema.pushes`).toEqual([]);
    await Promise.all(
      unfinished.map(async (subject, index) => {
        const moved = await checkSettled(subject, round, before[index] as Look);
        const outcome = outcomes[index];
        // What was answered with success is still so.
        if (typeof outcome === 'number') expect([outcome, moved]).toEqual([200, true]);
        else steps.get(subject)?.push(String(outcome));
        await checkRepeated(subject, round, before[index] as Look, moved);
      }),
    );
    unfinished = unfinished.filter((_, index) => typeof outcomes[index] === 'string');
  }
  // None was passed over: what is about to happen is written down, the branch moves, and what happened is written down.
  const [intent, record] = [/^with wanted as/, /^with held as/].map((text) => expect.stringMatching(text));
  for (const [subject, list] of steps) {
    const isMerge = MERGES.includes(subject);
    expect(list).toContainEqual(isMerge ? record : 'commit');
    if (subject.name === 'manually-merged') continue;
    const move = isMerge ? /^a branch$/ : /^start update refs\/heads\/side-N/;
    expect(list).toContainEqual(expect.stringMatching(move));
    if (isMerge) expect(list).toEqual(expect.arrayContaining([intent, 'the lock of a branch']));
    else expect(list.length).toBeGreaterThan(3);
  }
});
