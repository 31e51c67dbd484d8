import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushedRepository, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { NONE, pushByHand } from './push-by-hand.ts';
import { rowsOf } from './rows-of.ts';

// Lists of commands that clients of git do not send: what moves is told of, and nothing is told of that does not move.

const scene = useForge();
const OTHER = '1'.repeat(40);
let ada: Person;
let bare: string;
let old: string;
let next: string;
let number: number;
beforeAll(async () => {
  ada = scene.person('ada');
  const tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
  await git(tree, 'checkout', '-q', '-b', 'a');
  old = await commit(tree, { 'a.txt': '1' }, 'old');
  await git(tree, 'push', '-q', 'origin', 'a');
  next = await commit(tree, { 'a.txt': '2' }, 'next');
  await git(tree, 'push', '-q', 'origin', 'HEAD:refs/heads/later');
  const pull = { head: 'a', base: 'main', title: 'A' };
  ({ number } = (await ada.call('POST', '/repos/ada/work/pulls', pull)).body);
  await recordHappenings(scene);
});

const push = (commands: readonly string[], capabilities?: string) =>
  pushByHand(scene, ada, 'ada/work', commands, capabilities);
const TABLES = ['repositories', 'issues', 'pulls', 'comments', 'pushes', 'told'];
const everything = async () => [await git(bare, 'for-each-ref'), await rowsOf(scene, ...TABLES)];

describe('a push is refused, and nothing moves,', () => {
  const unchanged = async (commands: () => string[], message: RegExp) => {
    const before = await everything();
    expect(await push(commands())).toMatch(message);
    expect(await push(commands(), 'report-status delete-refs atomic')).toMatch(message);
    expect(await push(commands(), 'delete-refs')).toMatch(message);
    expect(await everything()).toEqual(before);
  };

  it.each<[string, () => string[]]>([
    ['moved and then refused', () => [`${old} ${next} refs/heads/a`, `${OTHER} ${next} refs/heads/a`]],
    ['refused and then moved', () => [`${OTHER} ${next} refs/heads/a`, `${old} ${next} refs/heads/a`]],
    ['moved there and back', () => [`${old} ${next} refs/heads/a`, `${next} ${old} refs/heads/a`]],
    ['made twice', () => [`${NONE} ${next} refs/heads/b`, `${NONE} ${old} refs/heads/b`]],
    [
      'deleted and made',
      () => [
        `${next} ${NONE} refs/heads/later`,
        `${NONE} ${old} refs/heads/later`,
        `${NONE} ${next} refs/tags/t`,
      ],
    ],
    ['pushed for review twice', () => [`${NONE} ${next} refs/for/main/x`, `${NONE} ${next} refs/for/main/x`]],
  ])('that names a ref twice: %s', async (_what, commands) => {
    await unchanged(commands, /refs\/[^ ]+ is named twice/);
  });

  it.each([
    'refs/heads/a b',
    'refs/heads/a ',
    'refs/heads/a\tb',
    'refs/heads/a\nb',
    'refs/heads/a\u007fb',
    'refs/heads/a..b',
    'refs/heads/a.lock',
    'refs/heads/a~1',
    'refs/heads//a',
    'refs/heads/a/',
  ])('of a ref which git cannot have: %j', async (ref) => {
    const before = await everything();
    for (const move of [`${NONE} ${next}`, `${old} ${next}`, `${old} ${NONE}`]) {
      // The name of another one is part of it.
      const stays = `${OTHER} ${next} refs/heads/a`;
      for (const commands of [[`${move} ${ref}`], [stays, `${move} ${ref}`], [`${move} ${ref}`, stays]])
        expect(await push(commands)).toContain(`ng ${ref} no ref can have this name`);
    }
    expect(await everything()).toEqual(before);
  });
});

it.each(['\u00a0', '\u00a0b', '\u2028', '\u3000b'])(
  'a name with an odd space is another one: a%j',
  async (odd) => {
    const ref = `refs/heads/a${odd}`;
    const before = await git(bare, 'rev-parse', 'a');
    expect(await push([`${OTHER} ${next} ${ref}`])).toContain(`ng ${ref} `);
    expect(await push([`${NONE} ${next} ${ref}`])).toContain(`ok ${ref}\n`);
    expect(await push([`${next} ${NONE} ${ref}`])).toContain(`ok ${ref}\n`);
    expect(await git(bare, 'rev-parse', 'a')).toBe(before);
    const told = await scene.sql.rows<{ payload: object }>`
    select payload from :schema.told where payload->>'ref' = ${ref} order by id`;
    expect(told.map(({ payload }) => payload)).toMatchObject([
      { kind: 'ref', before: NONE, after: next },
      { kind: 'ref', before: next, after: NONE },
    ]);
  },
);

it('what moves next to what is refused is told of, and its pull request follows', async () => {
  const answer = await push([`${old} ${next} refs/heads/a`, `${OTHER} ${next} refs/heads/later`]);
  expect(answer).toMatch(/ok refs\/heads\/a\n[\s\S]*ng refs\/heads\/later /);
  expect((await ada.call('GET', `/repos/ada/work/pulls/${number}`)).body['head']).toMatchObject({
    sha: next,
  });
  const told = await scene.sql.rows<{ payload: object }>`
    select payload from :schema.told where payload->>'ref' in ('refs/heads/a', 'refs/heads/later')`;
  expect(told.map(({ payload }) => payload)).toMatchObject([{ kind: 'ref', before: old, after: next }]);
  expect(await rowsOf(scene, 'pushes')).toEqual([[]]);
});
