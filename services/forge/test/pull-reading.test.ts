import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Body, commit, lines, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let tree: string;
beforeAll(async () => {
  ada = scene.person('ada');
  bob = scene.person('bob');
  await bob.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
});

const path = '/repos/ada/work/pulls';
const open = async (head: string, fields: object = {}): Promise<Body> => {
  const made = await ada.call('POST', path, { head, base: 'main', title: head, ...fields });
  expect(made.status).toBe(201);
  return made.body;
};

describe('the pull request between two branches', () => {
  let first: Body;
  let second: Body;
  beforeAll(async () => {
    await pushBranch(tree, 'renovate/all', { 'deps.txt': '1\n' });
    first = await open('renovate/all');
    await ada.call('PATCH', `${path}/${first.number}`, { state: 'closed' });
    second = await open('renovate/all');
    await pushBranch(tree, 'release/1', {});
    await open('renovate/all', { base: 'release/1' });
  });

  it.each([
    ['a branch', 'main/renovate/all'],
    ['an encoded one', 'main/renovate%2Fall'],
    ['with its owner', 'main/ada:renovate/all'],
    ['whatever the case of the name', 'main/ADA:renovate%2Fall'],
    ['with owner and repository', 'main/ada/work:renovate/all'],
  ])('is the newest one: %s', async (_, name) => {
    const found = await ada.call('GET', `${path}/${name}`);
    expect(found.status).toBe(200);
    expect(found.body.number).toBe(second.number);
    expect(found.body).toEqual((await ada.call('GET', `${path}/${second.number}`)).body);
  });

  it('may be closed, and have slashes on both sides', async () => {
    await ada.call('PATCH', `${path}/${second.number}`, { state: 'closed' });
    expect((await ada.call('GET', `${path}/main/renovate/all`)).body).toMatchObject({ state: 'closed' });
    const other = await ada.call('GET', `${path}/release%2F1/renovate/all`);
    expect(other.body).toMatchObject({ base: { ref: 'release/1' } });
  });

  it('is nothing for others, and nothing is hidden behind it', async () => {
    const names = [
      'main/none',
      'none/renovate/all',
      'main/bob:renovate/all',
      'main/ada/other:renovate/all',
      'main/:x',
    ];
    for (const name of names) expect((await ada.call('GET', `${path}/${name}`)).status).toBe(404);
    expect((await ada.call('GET', `${path}/${first.number}/merge`)).status).toBe(404);
    expect((await ada.call('GET', `${path}/pinned`)).items).toEqual([]);
    expect((await ada.call('GET', `${path}/${first.number}.diff`)).text).toContain('deps.txt');
  });
});

describe('commits and files', () => {
  let number: number;
  let ids: string[];
  beforeAll(async () => {
    await commit(tree, { 'old.txt': lines(1, 40), 'gone.txt': 'gone\n', 'space.txt': 'a b\nc\n' }, 'ground');
    await git(tree, 'push', '-q', 'origin', 'main');
    await git(tree, 'checkout', '-q', '-b', 'changes');
    ids = [
      await commit(tree, { 'old.txt': null, 'new name.txt': lines(1, 39), 'gone.txt': null }, 'one'),
      await commit(tree, { 'bin/a.dat': Buffer.from([0, 1, 2]), 'tab\tname.txt': 'x\n' }, 'two'),
      await commit(tree, { 'space.txt': 'a  b\nc\nd\n' }, 'three'),
    ];
    await git(tree, 'push', '-q', 'origin', 'changes');
    await git(tree, 'checkout', '-q', 'main');
    number = (await open('changes')).number;
  });

  it('lists the commits, newest first, in pages', async () => {
    const all = await ada.call('GET', `${path}/${number}/commits`);
    expect(all.items.map((one) => one['sha'])).toEqual(ids.toReversed());
    expect(all.items[0]).toMatchObject({ commit: { message: 'three\n' }, stats: { total: 3 } });
    const page = await ada.call('GET', `${path}/${number}/commits?limit=2&page=2&stat=false&files=false`);
    expect(page.items.map((one) => one['sha'])).toEqual(ids.slice(0, 1));
    expect(page.items[0]).toMatchObject({ stats: null, files: null });
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'x-total-count': '3',
      'x-page': '2',
      'x-perpage': '2',
      'x-pagecount': '2',
      'x-hasmore': 'false',
      link: expect.stringContaining('rel="prev"') as string,
    });
  });

  const FILES = [
    ['bin/a.dat', 'added', 0, 0],
    ['gone.txt', 'deleted', 0, 1],
    ['new name.txt', 'renamed', 0, 1],
    ['space.txt', 'changed', 2, 1],
    ['tab\tname.txt', 'added', 1, 0],
  ];
  const shape = ({ items }: { items: Body[] }) =>
    items.map((one) => [one['filename'], one['status'], one['additions'], one['deletions']]);

  it('lists the files with what happened to them', async () => {
    const all = await ada.call('GET', `${path}/${number}/files`);
    expect(shape(all)).toEqual(FILES);
    const renamed = all.items[2] as Body;
    expect(renamed).toMatchObject({ previous_filename: 'old.txt', changes: 1 });
    const content = await fetch(String(renamed['raw_url']), {
      headers: { authorization: `Bearer ${ada.token}` },
    });
    expect(await content.text()).toBe(lines(1, 39));
  });

  it('in pages, from a file on, and without white space', async () => {
    const page = await ada.call('GET', `${path}/${number}/files?limit=2&page=2`);
    expect(shape(page)).toEqual(FILES.slice(2, 4));
    expect(Object.fromEntries(page.headers)).toMatchObject({ 'x-total-count': '5', 'x-hasmore': 'true' });
    const rest = await ada.call('GET', `${path}/${number}/files?skip-to=space.txt`);
    expect(shape(rest)).toEqual(FILES.slice(3));
    expect((await ada.call('GET', `${path}/${number}/files?skip-to=none`)).items).toEqual([]);
    const unknown = await ada.call('GET', `${path}/${number}/files?whitespace=__proto__`);
    expect([unknown.status, unknown.items.length]).toEqual([200, 5]);
    const ignored = await ada.call('GET', `${path}/${number}/files?whitespace=ignore-all`);
    expect(shape(ignored)[3]).toEqual(['space.txt', 'changed', 1, 0]);
  });

  it('the pull request counts them, in lists too', async () => {
    const counts = { changed_files: 5, additions: 3, deletions: 3, conflicted_files: [] };
    expect((await ada.call('GET', `${path}/${number}`)).body).toMatchObject(counts);
    const { items } = await ada.call('GET', path);
    expect(items.find((one) => one.number === number)).toMatchObject(counts);
    const log = await git(tree, 'diff', '--shortstat', '-M', 'main...changes');
    expect(log).toBe('5 files changed, 3 insertions(+), 3 deletions(-)');
  });

  it('are the same after the merge and after the branch is gone', async () => {
    const read = () =>
      Promise.all(
        ['commits', 'files'].map(async (what) => (await ada.call('GET', `${path}/${number}/${what}`)).text),
      );
    const before = await read();
    const merged = await ada.call('POST', `${path}/${number}/merge`, { delete_branch_after_merge: true });
    expect(merged.status).toBe(200);
    expect(await read()).toEqual(before);
    expect((await ada.call('GET', `${path}/${number}`)).body).toMatchObject({
      changed_files: 5,
      merged: true,
    });
  });

  it('are for those who read the code', async () => {
    await ada.call('PATCH', '/repos/ada/work', { private: true });
    for (const what of ['commits', 'files', '../pulls/main/changes'])
      expect((await bob.call('GET', `${path}/${number}/${what}`)).status).toBe(404);
    await ada.call('PATCH', '/repos/ada/work', { private: false });
  });
});

describe('files over which a merge would fail', () => {
  it('are named', async () => {
    await pushBranch(tree, 'left', { 'lines.txt': `left\n${lines(2, 20)}` });
    const { number } = await open('left');
    await git(tree, 'pull', '-q', 'origin', 'main');
    await commit(tree, { 'lines.txt': `right\n${lines(2, 20)}` }, 'right');
    await git(tree, 'push', '-q', 'origin', 'main');
    const { body } = await ada.call('GET', `${path}/${number}`);
    expect(body).toMatchObject({ mergeable: false, conflicted_files: ['lines.txt'] });
  });
});

describe('lists', () => {
  it('are in every order what all rows sorted give, page by page', async () => {
    const made = await ada.call('POST', '/repos/ada/work/milestones', { title: 'v1' });
    const label = await ada.call('POST', '/repos/ada/work/labels', { name: 'bug', color: 'ff0000' });
    const other = await ada.call('POST', '/repos/ada/work/labels', { name: 'new', color: '00ff00' });
    for (let n = 0; n < 6; n++) {
      await pushBranch(tree, `many-${n}`, { [`many-${n}.txt`]: `${n}` });
      const labels = n % 2 === 0 ? [label.body.id, other.body.id] : [];
      const { number } = await open(`many-${n}`, { labels, milestone: n === 3 ? made.body.id : 0 });
      for (let c = 0; c < n % 3; c++)
        await ada.call('POST', `/repos/ada/work/issues/${number}/comments`, { body: `${c}` });
      if (n % 3 === 1) await ada.call('PATCH', `${path}/${number}`, { state: 'closed' });
    }
    interface Row {
      number: number;
      id: number;
      created_at: Date;
      updated_at: Date;
      closed_at: Date | null;
      comments: number;
    }
    const rows = await scene.sql.rows<Row>`select * from :schema.issues where is_pull`;
    const time = (at: Date | null) => at?.getTime() ?? 0;
    const orders: Record<string, (a: Row, b: Row) => number> = {
      newest: (a, b) => time(b.created_at) - time(a.created_at) || b.id - a.id,
      oldest: (a, b) => time(a.created_at) - time(b.created_at) || a.id - b.id,
      recentupdate: (a, b) => time(b.updated_at) - time(a.updated_at) || b.id - a.id,
      leastupdate: (a, b) => time(a.updated_at) - time(b.updated_at) || b.id - a.id,
      recentclose: (a, b) => time(b.closed_at) - time(a.closed_at) || b.id - a.id,
      mostcomment: (a, b) => b.comments - a.comments || b.id - a.id,
      leastcomment: (a, b) => a.comments - b.comments || b.id - a.id,
    };
    const states: Record<string, (row: Row) => boolean> = {
      open: (row) => row.closed_at === null,
      closed: (row) => row.closed_at !== null,
      all: () => true,
    };
    for (const [sort, compare] of Object.entries(orders))
      for (const [state, matches] of Object.entries(states)) {
        const expected = rows.filter(matches).sort(compare);
        const seen: number[] = [];
        for (let page = 1; seen.length < expected.length; page++) {
          const list = await ada.call('GET', `${path}?state=${state}&sort=${sort}&limit=4&page=${page}`);
          expect(list.headers.get('x-total-count')).toBe(String(expected.length));
          expect(list.items.length).toBeGreaterThan(0);
          seen.push(...list.items.map(({ number }) => number));
        }
        expect([sort, state, ...seen]).toEqual([sort, state, ...expected.map(({ number }) => number)]);
      }
    const filtered = await ada.call('GET', `${path}?labels=${label.body.id}&labels=${other.body.id}&limit=1`);
    expect([filtered.headers.get('x-total-count'), filtered.items.length]).toEqual(['2', 1]);
    const ofMilestone = await ada.call(
      'GET',
      `${path}?milestone=${made.body.id}&poster=ada&base_branch=main`,
    );
    expect(ofMilestone.items).toMatchObject([{ title: 'many-3' }]);
    expect((await ada.call('GET', `${path}?base_branch=none`)).items).toEqual([]);
    const past = await ada.call('GET', `${path}?page=900`);
    expect([past.status, past.items, Number(past.headers.get('x-total-count')) > 0]).toEqual([200, [], true]);
  });

  it('an unknown milestone in an edit is 404, and nothing changes', async () => {
    const before = await scene.sql.rows`select * from :schema.issues order by id`;
    const refused = await ada.call('PATCH', `${path}/1`, { milestone: 999, title: 'other' });
    expect(refused.status).toBe(404);
    expect(await scene.sql.rows`select * from :schema.issues order by id`).toEqual(before);
  });
});
