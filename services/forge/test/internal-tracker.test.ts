import { silentLog } from '@croft/runtime';
import { openDatabase } from '@croft/sql';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { changeByCommit } from '../src/references/change-by-commit.ts';
import { type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { type Cast, castOf, openTo } from './repository-scene.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let cast: Cast;
let tree: string;
const at = '/repos/ada/work';
const ALL = {
  enable_time_tracker: true,
  allow_only_contributors_to_track_time: false,
  enable_issue_dependencies: true,
};

beforeAll(async () => {
  cast = await castOf(scene)();
  tree = await pushedRepository(cast.ada, 'work', scene.folder);
  await openTo(cast, 'ada/work');
});
beforeEach(() => set(ALL));

const edit = (who: Person, body: object) => who.call('PATCH', at, body);
const set = async (tracker: object) =>
  expect((await edit(cast.ada, { internal_tracker: tracker })).status).toBe(200);
const shown = async (viewer = cast.stranger) => (await viewer.call('GET', at)).body['internal_tracker'];
const issue = async (who = cast.ada, body: object = {}) =>
  (await who.call('POST', `${at}/issues`, { title: 'Do it', ...body })).body.number;
const stored = () =>
  rowsOf(
    scene,
    'tracked_times',
    'stopwatches',
    'comments',
    'dependencies',
    'issues',
    'repositories(id, tracks_time, only_contributors_track_time, has_dependencies, closed_issues, closed_pulls)',
  );
async function refused(
  status: number,
  who: Person,
  method: string,
  path: string,
  body?: unknown,
): Promise<string> {
  const before = await stored();
  const reply = await who.call(method, path, body);
  expect([method, path, reply.status]).toEqual([method, path, status]);
  expect(await stored()).toEqual(before);
  return reply.body.message;
}
const done = async (status: number, who: Person, method: string, path: string, body?: unknown) => {
  const reply = await who.call(method, path, body);
  expect([method, path, reply.status, reply.text]).toEqual([method, path, status, reply.text]);
  return reply;
};

describe('internal_tracker', () => {
  it('lets contributors only track time at first', async () => {
    const { body } = await done(201, cast.ada, 'POST', '/user/repos', { name: 'fresh' });
    expect(body['internal_tracker']).toEqual({ ...ALL, allow_only_contributors_to_track_time: true });
    await done(201, cast.ada, 'POST', '/repos/ada/fresh/issues', { title: 'Do it' });
    await refused(403, cast.stranger, 'POST', '/repos/ada/fresh/issues/1/times', { time: 60 });
    await refused(403, cast.stranger, 'POST', '/repos/ada/fresh/issues/1/stopwatch/start');
    await done(200, cast.ada, 'POST', '/repos/ada/fresh/issues/1/times', { time: 60 });
  });

  it('is shown to everybody, changed by administrators, one by one, and kept', async () => {
    expect(await shown()).toEqual(ALL);
    const { body } = await edit(cast.admin, { internal_tracker: { enable_time_tracker: false } });
    expect(body['internal_tracker']).toEqual({ ...ALL, enable_time_tracker: false });
    await edit(cast.ada, {
      internal_tracker: { enable_issue_dependencies: false, allow_only_contributors_to_track_time: true },
    });
    const now = {
      enable_time_tracker: false,
      allow_only_contributors_to_track_time: true,
      enable_issue_dependencies: false,
    };
    expect(await shown()).toEqual(now);
    for (const body of [{ description: 'x' }, { internal_tracker: null }, { internal_tracker: {} }])
      await edit(cast.ada, body);
    expect(await shown()).toEqual(now);
  });

  it('is not there where there are no issues, and comes back with them', async () => {
    await set({ enable_time_tracker: false });
    const { body } = await edit(cast.ada, { has_issues: false });
    expect(body).not.toHaveProperty('internal_tracker');
    await edit(cast.ada, { has_issues: true });
    expect(await shown()).toEqual({ ...ALL, enable_time_tracker: false });
  });

  it('is refused to others, and for what is no switch', async () => {
    const off = { internal_tracker: { enable_time_tracker: false } };
    for (const who of [cast.writer, cast.reader, cast.stranger]) await refused(403, who, 'PATCH', at, off);
    for (const tracker of [true, 'no', { enable_time_tracker: 'no' }, [1]])
      await refused(422, cast.ada, 'PATCH', at, { internal_tracker: tracker });
    expect(await shown()).toEqual(ALL);
  });
});

describe('without time tracking', () => {
  it('nothing is noted, shown or forgotten', async () => {
    const number = await issue();
    const times = `${at}/issues/${number}/times`;
    const watch = `${at}/issues/${number}/stopwatch`;
    const { body } = await done(200, cast.reader, 'POST', times, { time: 60 });
    await done(201, cast.reader, 'POST', `${watch}/start`);
    await set({ enable_time_tracker: false });
    for (const who of [cast.ada, cast.reader]) {
      expect(await refused(404, who, 'GET', times)).toBe('Timetracker is disabled');
      for (const [method, path, sent] of [
        ['POST', times, { time: 60 }],
        ['DELETE', times],
        ['DELETE', `${times}/${body.id}`],
        ['GET', `${at}/times`],
        ['GET', `${at}/times/reader`],
      ] as const) {
        expect(await refused(400, who, method, path, sent)).toBe('time tracking disabled');
      }
      await refused(403, who, 'POST', `${watch}/start`);
      await refused(403, who, 'POST', `${watch}/stop`);
      await refused(403, who, 'DELETE', `${watch}/delete`);
    }
    await refused(404, cast.ada, 'POST', `${at}/issues/999/times`, { time: 1 });
    // One's own lists say what there was.
    expect((await cast.reader.call('GET', '/user/times')).items).toHaveLength(1);
    expect((await cast.reader.call('GET', '/user/stopwatches')).items).toHaveLength(1);
    await set({ enable_time_tracker: true });
    expect((await done(200, cast.reader, 'GET', times)).items).toHaveLength(1);
    await done(204, cast.reader, 'DELETE', `${watch}/delete`);
  });

  it('a stopwatch that another one ends notes nothing', async () => {
    await done(201, cast.reader, 'POST', '/user/repos', { name: 'own' });
    await cast.reader.call('POST', '/repos/reader/own/issues', { title: 'Mine' });
    const number = await issue();
    for (const [tracker, noted] of [
      [{ enable_time_tracker: false }, 0],
      [{ allow_only_contributors_to_track_time: true }, 0],
      [{}, 1],
    ] as const) {
      await set(ALL);
      await done(201, cast.reader, 'POST', `${at}/issues/${number}/stopwatch/start`);
      await set(tracker);
      await done(201, cast.reader, 'POST', '/repos/reader/own/issues/1/stopwatch/start');
      await set(ALL);
      expect((await done(200, cast.ada, 'GET', `${at}/issues/${number}/times`)).items).toHaveLength(noted);
      await done(204, cast.reader, 'DELETE', '/repos/reader/own/issues/1/stopwatch/delete');
    }
  });
});

describe('where only contributors track time', () => {
  it('writers do, who wrote the issue does, and who is assigned to it', async () => {
    // Who is assigned wrote when he was; now he only reads.
    const assigned = async () => {
      const collaborator = `${at}/collaborators/reader`;
      await done(204, cast.ada, 'PUT', collaborator, { permission: 'write' });
      const number = await issue(cast.ada, { assignees: ['reader'] });
      await done(204, cast.ada, 'PUT', collaborator, { permission: 'read' });
      return number;
    };
    const allowed = [
      [cast.writer, await issue()],
      [cast.ada, await issue()],
      [cast.root, await issue()],
      [cast.stranger, await issue(cast.stranger)],
      [cast.reader, await assigned()],
    ] as const;
    const number = await issue();
    await done(200, cast.reader, 'POST', `${at}/issues/${number}/times`, { time: 30 });
    await set({ allow_only_contributors_to_track_time: true });
    for (const [who, own] of allowed) {
      const path = `${at}/issues/${own}`;
      await done(200, who, 'POST', `${path}/times`, { time: 60 });
      await done(201, who, 'POST', `${path}/stopwatch/start`);
      await done(201, who, 'POST', `${path}/stopwatch/stop`);
      await done(204, who, 'DELETE', `${path}/times`);
    }
    for (const who of [cast.reader, cast.stranger]) {
      const path = `${at}/issues/${number}`;
      for (const [method, rest, sent] of [
        ['POST', 'times', { time: 60 }],
        ['DELETE', 'times'],
        ['POST', 'stopwatch/start'],
        ['POST', 'stopwatch/stop'],
        ['DELETE', 'stopwatch/delete'],
      ] as const) {
        await refused(403, who, method, `${path}/${rest}`, sent);
      }
    }
    // Looking is for those who could look before.
    expect((await done(200, cast.reader, 'GET', `${at}/issues/${number}/times`)).items).toHaveLength(1);
    expect((await done(200, cast.stranger, 'GET', `${at}/times`)).items).toEqual([]);
  });

  it('a writer who starts elsewhere notes what he began here', async () => {
    const [first, second] = [await issue(), await issue()];
    await set({ allow_only_contributors_to_track_time: true });
    for (const number of [first, second])
      await done(201, cast.writer, 'POST', `${at}/issues/${number}/stopwatch/start`);
    expect((await done(200, cast.writer, 'GET', `${at}/issues/${first}/times`)).items).toHaveLength(1);
    await done(204, cast.writer, 'DELETE', `${at}/issues/${second}/stopwatch/delete`);
  });
});

describe('in a locked conversation', () => {
  it('only writers note and forget time, and run stopwatches', async () => {
    const number = await issue(cast.reader);
    const path = `${at}/issues/${number}`;
    const { body } = await done(200, cast.reader, 'POST', `${path}/times`, { time: 30 });
    await done(201, cast.reader, 'POST', `${path}/stopwatch/start`);
    await done(204, cast.writer, 'PUT', `${path}/lock`);
    for (const who of [cast.reader, cast.stranger])
      for (const [method, rest, sent] of [
        ['POST', 'times', { time: 60 }],
        ['DELETE', 'times'],
        ...(who === cast.reader ? ([['DELETE', `times/${body.id}`]] as const) : []),
        ['POST', 'stopwatch/start'],
        ['POST', 'stopwatch/stop'],
        ['DELETE', 'stopwatch/delete'],
      ] as const)
        expect(await refused(403, who, method, `${path}/${rest}`, sent)).toBe('the conversation is locked');
    await done(200, cast.writer, 'POST', `${path}/times`, { time: 60 });
    await done(201, cast.writer, 'POST', `${path}/stopwatch/start`);
    await done(201, cast.writer, 'POST', `${path}/stopwatch/stop`);
    await done(204, cast.writer, 'DELETE', `${path}/times`);
  });

  it('a stopwatch that another one ends notes nothing but a writer’s', async () => {
    const [number, other] = [await issue(), await issue()];
    for (const who of [cast.reader, cast.writer])
      await done(201, who, 'POST', `${at}/issues/${number}/stopwatch/start`);
    await done(204, cast.ada, 'PUT', `${at}/issues/${number}/lock`);
    for (const who of [cast.reader, cast.writer]) {
      await done(201, who, 'POST', `${at}/issues/${other}/stopwatch/start`);
      await done(204, who, 'DELETE', `${at}/issues/${other}/stopwatch/delete`);
    }
    const { items } = await done(200, cast.ada, 'GET', `${at}/issues/${number}/times`);
    expect(items.map((one) => one['user_name'])).toEqual(['writer']);
  });
});

describe('whoever closes an issue', () => {
  const types = async (number: number) =>
    (await cast.ada.call('GET', `${at}/issues/${number}/timeline`)).items.map((one) => one['type']);
  const running = async (who: Person) => (await who.call('GET', '/user/stopwatches')).items.length;
  const close = { state: 'closed' };

  it('stops his stopwatch on it and notes the time, and nobody else’s', async () => {
    const number = await issue(cast.reader);
    const path = `${at}/issues/${number}`;
    for (const who of [cast.reader, cast.writer]) await done(201, who, 'POST', `${path}/stopwatch/start`);
    await done(201, cast.reader, 'PATCH', path, close);
    expect(await types(number)).toEqual(['start_tracking', 'start_tracking', 'close', 'stop_tracking']);
    const { items } = await done(200, cast.ada, 'GET', `${path}/times`);
    expect(items.map((one) => one['user_name'])).toEqual(['reader']);
    expect([await running(cast.reader), await running(cast.writer)]).toEqual([0, 1]);
    // What is closed can be worked on, and is closed once.
    await done(201, cast.reader, 'POST', `${path}/stopwatch/start`);
    await done(201, cast.reader, 'PATCH', path, close);
    expect(await running(cast.reader)).toBe(1);
    for (const who of [cast.reader, cast.writer]) await done(204, who, 'DELETE', `${path}/stopwatch/delete`);
  });

  it('notes nothing where nobody tracks time any more', async () => {
    const number = await issue(cast.reader);
    await done(201, cast.reader, 'POST', `${at}/issues/${number}/stopwatch/start`);
    await set({ enable_time_tracker: false });
    await done(201, cast.reader, 'PATCH', `${at}/issues/${number}`, close);
    await set(ALL);
    expect(await types(number)).toEqual(['start_tracking', 'close']);
    expect((await done(200, cast.ada, 'GET', `${at}/issues/${number}/times`)).items).toEqual([]);
    expect(await running(cast.reader)).toBe(0);
  });

  it('keeps it running where closing is refused', async () => {
    const [number, blocker] = [await issue(), await issue()];
    await done(201, cast.ada, 'POST', `${at}/issues/${number}/dependencies`, { index: blocker });
    await done(201, cast.ada, 'POST', `${at}/issues/${number}/stopwatch/start`);
    await refused(412, cast.ada, 'PATCH', `${at}/issues/${number}`, close);
    await done(204, cast.ada, 'DELETE', `${at}/issues/${number}/stopwatch/delete`);
  });
});

describe('without dependencies', () => {
  const depends = (number: number) => `${at}/issues/${number}/dependencies`;
  const close = { state: 'closed' };
  const pairs = async () => {
    const [a, b] = [await issue(), await issue()];
    await done(201, cast.ada, 'POST', depends(a), { index: b });
    return [a, b] as const;
  };

  it('none are made, shown or removed, and those that are there stay', async () => {
    const [a, b] = await pairs();
    const c = await issue();
    await set({ enable_issue_dependencies: false });
    for (const who of [cast.ada, cast.writer, cast.reader]) {
      await refused(404, who, 'GET', depends(a));
      await refused(404, who, 'POST', depends(c), { index: b });
      await refused(404, who, 'DELETE', depends(a), { index: b });
      await refused(404, who, 'POST', `${at}/issues/${b}/blocks`, { index: c });
      await refused(404, who, 'DELETE', `${at}/issues/${b}/blocks`, { index: a });
    }
    expect((await done(200, cast.reader, 'GET', `${at}/issues/${b}/blocks`)).items).toHaveLength(1);
    await set({ enable_issue_dependencies: true });
    expect((await done(200, cast.reader, 'GET', depends(a))).items).toHaveLength(1);
  });

  it('decides where the issue waits, not where the other one is', async () => {
    await cast.ada.call('POST', '/user/repos', { name: 'other' });
    await cast.ada.call('POST', '/repos/ada/other/issues', { title: 'There' });
    const here = await issue();
    const there = { index: 1, owner: 'ada', repo: 'other' };
    await set({ enable_issue_dependencies: false });
    await refused(404, cast.ada, 'POST', depends(here), there);
    await done(201, cast.ada, 'POST', `${at}/issues/${here}/blocks`, there);
    await refused(412, cast.ada, 'PATCH', '/repos/ada/other/issues/1', close);
  });

  it('an issue is closed while what it waited for is open, by hand and by a commit', async () => {
    const [byHand] = await pairs();
    const [byCommit] = await pairs();
    await refused(412, cast.ada, 'PATCH', `${at}/issues/${byHand}`, close);
    await set({ enable_issue_dependencies: false });
    await done(201, cast.ada, 'PATCH', `${at}/issues/${byHand}`, close);
    const database = openDatabase({ url: scene.databaseUrl, schema: 'forge', log: silentLog });
    const id = (await cast.ada.call('GET', `${at}/issues/${byCommit}`)).body.id;
    const by = { actorId: 1, commitSha: '1'.repeat(40), repositoryId: 1 };
    await database.transaction((tx) => changeByCommit(tx, id, 'closes', by));
    await database.close();
    expect((await cast.ada.call('GET', `${at}/issues/${byCommit}`)).body['state']).toBe('closed');
  });

  it('a pull request is merged, also by itself as soon as it is switched', async () => {
    const blocker = await issue();
    const open = async (branch: string) => {
      const sha = await pushBranch(tree, branch, { [branch]: '1' }, 'origin/main');
      const head = { head: branch, base: 'main', title: branch };
      return { sha, number: (await cast.ada.call('POST', `${at}/pulls`, head)).body.number };
    };
    const [byHand, byItself] = [await open('by-hand'), await open('by-itself')];
    const check = (state: string) =>
      done(201, cast.ada, 'POST', `${at}/statuses/${byItself.sha}`, { state, context: 'ci' });
    await check('pending');
    const schedule = { merge_when_checks_succeed: true };
    await done(201, cast.ada, 'POST', `${at}/pulls/${byItself.number}/merge`, schedule);
    for (const { number } of [byHand, byItself])
      await done(201, cast.ada, 'POST', depends(number), { index: blocker });
    await check('success');
    const path = `${at}/pulls/${byHand.number}/merge`;
    expect(await refused(405, cast.ada, 'POST', path, { Do: 'merge' })).toMatch(/dependencies/);
    await expect.poll(() => scene.sql.rows`select id from :schema.outbox`).toEqual([]);
    await refused(404, cast.ada, 'GET', `${at}/pulls/${byItself.number}/merge`);
    await set({ enable_issue_dependencies: false });
    const isMerged = async () => (await cast.ada.call('GET', `${at}/pulls/${byItself.number}/merge`)).status;
    await expect.poll(isMerged).toBe(204);
    await done(200, cast.ada, 'POST', path, { Do: 'merge' });
    expect((await cast.ada.call('GET', `${at}/issues/${blocker}`)).body['state']).toBe('open');
  });

  it('a stack is merged whose members wait for something', async () => {
    const blocker = await issue();
    const numbers: number[] = [];
    for (const [head, base] of [
      ['low', 'main'],
      ['high', 'low'],
    ] as const) {
      await pushBranch(tree, head, { [head]: '1' }, base);
      const { body } = await cast.ada.call('POST', `${at}/pulls`, { head, base, title: head });
      await done(201, cast.ada, 'POST', depends(body.number), { index: blocker });
      numbers.push(body.number);
    }
    const path = `${at}/pulls/${numbers[1]}/merge`;
    const merge = { Do: 'merge', merge_stack: true };
    expect(await refused(405, cast.ada, 'POST', path, merge)).toMatch(/dependencies/);
    await set({ enable_issue_dependencies: false });
    await done(200, cast.ada, 'POST', path, merge);
  });
});
