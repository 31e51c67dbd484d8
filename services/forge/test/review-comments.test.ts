import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';
import { pullWithoutCode, type ReviewScene, reviewScene } from './review-scene.ts';

const scene = useForge();
let work: ReviewScene;
beforeAll(async () => {
  work = await reviewScene(scene, 'work');
});

const reviewsOf = (number: number) => `${work.at}/pulls/${number}/reviews`;

describe('a comment on a line', () => {
  it('stands at a line before or after the change, with the end of its hunk', async () => {
    const { bob, open, review } = work;
    const number = await open('lines');
    const { body } = await review(bob, number, {
      event: 'COMMENT',
      comments: [
        { path: 'lines.txt', body: 'new', new_position: 3 },
        { path: '/lines.txt', body: 'old', old_position: 3 },
        { path: 'new.txt', body: 'added', new_position: 2, old_position: 7 },
      ],
    });
    const listed = await bob.call('GET', `${reviewsOf(number)}/${body.id}/comments`);
    expect(listed.headers.get('x-total-count')).toBe('3');
    expect(listed.items).toMatchObject([
      {
        path: 'lines.txt',
        body: 'new',
        position: 3,
        original_position: 0,
        diff_hunk: '@@ -1,3 +1,3 @@\n line 1\n line 2\n-line 3\n+changed',
        commit_id: body['commit_id'],
        original_commit_id: body['commit_id'],
        pull_request_review_id: body.id,
        user: { login: 'bob' },
        resolver: null,
      },
      {
        body: 'old',
        position: 0,
        original_position: 3,
        diff_hunk: '@@ -1,3 +1,2 @@\n line 1\n line 2\n-line 3',
      },
      { path: 'new.txt', position: 2, diff_hunk: '@@ -0,0 +1,2 @@\n+one\n+two' },
    ]);
    const page = await bob.call('GET', `${reviewsOf(number)}/${body.id}/comments?limit=1&page=2`);
    expect(page.items).toMatchObject([{ body: 'old' }]);
    expect(page.headers.get('link')).toContain('rel="next"');
  });

  it('is one of a review whose texts are shown at once as far as nine megabytes of them go', async () => {
    const { bob, open, review, stored } = work;
    const number = await open('long-texts');
    const say = (body: string) => {
      const comments = [{ path: 'new.txt', new_position: 1, body }];
      return review(bob, number, { event: 'PENDING', body: 'So far', comments });
    };
    const text = (n: number) => `${n} ${'x'.repeat(990_000)}`;
    for (let n = 0; n < 8; n++) await say(text(n));
    // More can only be edited into it.
    const before = await stored();
    expect(await say(text(8))).toMatchObject({ status: 422, text: expect.stringContaining('8388608 bytes') });
    expect(await stored()).toEqual(before);
    await say('8 later');
    const { body: made } = await say('9 later');
    const at = `${reviewsOf(number)}/${made.id}/comments`;
    expect((await bob.call('POST', `${reviewsOf(number)}/${made.id}`, { event: 'COMMENT' })).status).toBe(
      200,
    );
    for (const { id, body } of (await bob.call('GET', at)).items.slice(8)) {
      const edited = { body: text(Number(String(body).slice(0, 1))) };
      expect((await bob.call('PATCH', `${work.at}/issues/comments/${id}`, edited)).status).toBe(200);
    }
    const whole = await bob.call('GET', at);
    const first = ({ items }: typeof whole) => items.map(({ body }) => String(body).slice(0, 2));
    expect(first(whole)).toEqual(['0 ', '1 ', '2 ', '3 ', '4 ', '5 ', '6 ', '7 ', '8 ']);
    expect(whole.headers.get('x-total-count')).toBe('10');
    const [, rest = ''] = /<([^>]+)>; rel="next"/.exec(whole.headers.get('link') ?? '') ?? [];
    expect(first(await bob.call('GET', rest.slice(rest.indexOf('/repos'))))).toEqual(['9 ']);
  });

  it('shows its hunk to those only who may read code, and is theirs only to write', async () => {
    const { ada, bob, stored } = work;
    const { paul, at, number, comments } = await pullWithoutCode(scene, ada);
    const reviews = `${at}/pulls/${number}/reviews`;
    const made = await ada.call('POST', reviews, { event: 'COMMENT', comments });
    const seen = (who: typeof ada) => who.call('GET', `${reviews}/${made.body.id}/comments`);
    expect((await seen(ada)).items).toMatchObject([{ diff_hunk: '@@ -0,0 +1,1 @@\n+hush' }]);
    expect((await seen(paul)).items).toMatchObject([{ body: 'why?', diff_hunk: '' }]);
    expect((await seen(bob)).status).toBe(404);
    const before = await stored();
    const refused = await paul.call('POST', reviews, { event: 'COMMENT', comments });
    expect([refused.status, refused.text]).toEqual([404, expect.not.stringContaining('hush')]);
    expect(await stored()).toEqual(before);
    expect((await paul.call('POST', reviews, { event: 'COMMENT', body: 'fine' })).status).toBe(200);
  });

  it.each([
    ['a line outside of the change', { path: 'lines.txt', new_position: 15 }],
    ['a line that is not there', { path: 'new.txt', new_position: 3 }],
    ['a line of before, of a new file', { path: 'new.txt', old_position: 1 }],
    ['a file that does not change', { path: 'README.md', new_position: 1 }],
    ['a file that is not there', { path: 'nothing', new_position: 1 }],
    ['no position', { path: 'new.txt' }],
    ['a position below zero', { path: 'new.txt', new_position: -1 }],
    ['an old position below zero', { path: 'new.txt', old_position: -1 }],
    ['a huge position', { path: 'new.txt', new_position: Number.MAX_SAFE_INTEGER }],
    ['no path', { new_position: 1 }],
    ['a path out of the repository', { path: '../new.txt', new_position: 1 }],
    ['an absolute path', { path: '/etc/passwd', new_position: 1 }],
    ['a pattern', { path: '*.txt', new_position: 1 }],
    ['magic', { path: ':(glob)**', new_position: 1 }],
    ['a folder', { path: 'folder', new_position: 1 }],
    ['an option', { path: '--output=/tmp/x', new_position: 1 }],
    ['a NUL', { path: 'new\0.txt', new_position: 1 }],
    ['half a character', { path: '\ud800', new_position: 1 }],
    ['a very long path', { path: 'x/'.repeat(3000), new_position: 1 }],
    ['no text', { path: 'new.txt', new_position: 1, body: ' ' }],
  ])('is refused at %s', async (_what, comment) => {
    const before = await work.stored();
    const body = { event: 'COMMENT', body: 'all', comments: [{ body: 'x', ...comment }] };
    expect((await work.review(work.bob, 1, body)).status).toBe(422);
    expect(await work.stored()).toEqual(before);
  });

  it('is refused with too many others', async () => {
    const before = await work.stored();
    const comments = Array.from({ length: 51 }, () => ({ path: 'new.txt', body: 'x', new_position: 1 }));
    expect((await work.review(work.bob, 1, { event: 'COMMENT', comments })).status).toBe(422);
    expect(await work.stored()).toEqual(before);
  });
});

it('what a review says, of lines too, is changed by its author and writers, and reacted to; a pending one is not there', async () => {
  const { ada, bob, writer, stored } = work;
  const number = await work.open('reworded');
  const comments = [{ path: 'new.txt', body: 'why?', new_position: 1 }];
  const made = await work.review(bob, number, { event: 'COMMENT', body: 'all', comments });
  const pending = await work.review(writer, number, { body: 'to come', comments });
  const at = `${work.at}/pulls/${number}/reviews`;
  const ofLine = async (id: number, who = bob) =>
    (await who.call('GET', `${at}/${id}/comments`)).items[0] as unknown as { id: number; body: string };
  const { id: line } = await ofLine(made.body.id);
  const entries = (await ada.call('GET', `${work.at}/issues/${number}/timeline`)).items;
  const whole = entries.find(({ type }) => type === 'review')?.id;
  const edit = (who: typeof bob, id: number | undefined, body: string) =>
    who.call('PATCH', `${work.at}/issues/comments/${id}`, { body });

  const before = await stored();
  const hidden = (await ofLine(pending.body.id, writer)).id;
  expect((await edit(scene.person('mallory'), line, 'mine')).status).toBe(403);
  expect((await edit(bob, line, ' ')).status).toBe(422);
  for (const who of [ada, writer]) expect((await edit(who, hidden, 'seen')).status).toBe(404);
  expect(await stored()).toEqual(before);

  expect(await edit(bob, line, 'why so?')).toMatchObject({
    status: 200,
    body: { id: line, body: 'why so?' },
  });
  expect(await edit(ada, whole, 'everything')).toMatchObject({ status: 200, body: { body: 'everything' } });
  expect(await ofLine(made.body.id)).toMatchObject({ body: 'why so?' });
  expect((await ada.call('GET', `${at}/${made.body.id}`)).body).toMatchObject({ body: 'everything' });
  for (const id of [line, whole]) {
    const reactions = `${work.at}/issues/comments/${id}/reactions`;
    expect((await ada.call('POST', reactions, { content: 'heart' })).status).toBe(201);
    expect((await bob.call('GET', reactions)).items).toMatchObject([{ content: 'heart' }]);
  }
  // As before, who asks for one by its id is given plain comments only.
  expect((await ada.call('GET', `${work.at}/issues/comments/${line}`)).status).toBe(204);
});

describe('what a comment on a line is about', () => {
  it('is settled and open again, as those say who may, and counted in the pull request', async () => {
    const { ada, bob, writer } = work;
    const number = await work.open('settled');
    const comments = [{ path: 'new.txt', body: 'why?', new_position: 1 }];
    const before = await ada.call('GET', `${work.at}/pulls/${number}`);
    expect(before.body['review_comments']).toBe(0);
    const made = await work.review(bob, number, { event: 'COMMENT', comments });
    await work.review(bob, number, { body: 'to come', comments });
    const listed = await ada.call('GET', `${work.at}/pulls?state=all&sort=newest`);
    expect(listed.items.find((one) => one.number === number)?.['review_comments']).toBe(1);
    const list = async () =>
      (await ada.call('GET', `${work.at}/pulls/${number}/reviews/${made.body.id}/comments`)).items;
    const id = (await list())[0]?.id;
    const at = `${work.at}/pulls/comments/${id}`;
    expect((await list())[0]).toMatchObject({ resolver: null });
    for (const who of [writer, ada]) expect((await who.call('POST', `${at}/resolve`)).status).toBe(204);
    // Who was first.
    expect((await list())[0]).toMatchObject({ resolver: { login: 'writer' } });
    // As in the reference a timeline has the review, and not what it says of lines.
    const timeline = await ada.call('GET', `${work.at}/issues/${number}/timeline`);
    expect(timeline.items.map((entry) => entry.id)).not.toContain(id);
    expect((await ada.call('POST', `${at}/unresolve`)).status).toBe(204);
    expect((await list())[0]).toMatchObject({ resolver: null });
  });

  it('is not for others, for other comments and for archives to settle', async () => {
    const { ada, bob } = work;
    const number = await work.open('unsettled');
    const comments = [{ path: 'new.txt', body: 'why?', new_position: 1 }];
    const made = await work.review(bob, number, { event: 'COMMENT', comments });
    const pending = await work.review(bob, number, { body: 'to come', comments });
    const idOf = async (review: number) =>
      (await bob.call('GET', `${work.at}/pulls/${number}/reviews/${review}/comments`)).items[0]?.id;
    const [id, hidden] = [await idOf(made.body.id), await idOf(pending.body.id)];
    const plain = await ada.call('POST', `${work.at}/issues/${number}/comments`, { body: 'plain' });
    const before = await work.stored();
    const settle = async (who: Person, comment = 0) =>
      (await who.call('POST', `${work.at}/pulls/comments/${comment}/resolve`)).status;
    expect(await settle(bob, id)).toBe(403);
    expect(await settle(ada, hidden)).toBe(404);
    expect(await settle(ada, plain.body.id)).toBe(400);
    expect(await settle(ada, 999_999)).toBe(404);
    await scene.sql.run`update :schema.repositories set archived = true where name = 'work'`;
    expect(await settle(ada, id)).toBe(423);
    await scene.sql.run`update :schema.repositories set archived = false where name = 'work'`;
    expect(await work.stored()).toEqual(before);
  });
});
