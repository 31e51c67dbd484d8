import { beforeAll, describe, expect, it } from 'vitest';
import { request, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { pullWithoutCode, type ReviewScene, reviewScene } from './review-scene.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let work: ReviewScene;
beforeAll(async () => {
  work = await reviewScene(scene, 'work');
  await recordHappenings(scene);
});

const LINE = { path: 'lines.txt', body: 'why?', new_position: 3 };
const reviewsOf = (number: number, at = work.at) => `${at}/pulls/${number}/reviews`;
const repliesTo = (number: number, id: number | string | undefined, at = work.at) =>
  `${at}/pulls/${number}/comments/${id}/replies`;
/** A review of a pull request with comments on lines, and the ids of those. */
async function commented(
  who: ReviewScene['bob'],
  number: number,
  comments: object[],
  event = 'COMMENT',
  at = work.at,
) {
  const review = await who.call('POST', reviewsOf(number, at), { event, body: 'all', comments });
  const { items } = await who.call('GET', `${reviewsOf(number, at)}/${review.body.id}/comments`);
  return { review: review.body, lines: items.map(({ id }) => id) as [number, ...number[]] };
}
const stored = () => Promise.all([work.stored(), rowsOf(scene, 'told')]);

describe('a reply to a comment on a line', () => {
  it('stands where that does, as a review of its own, and everybody is told', async () => {
    const { ada, bob } = work;
    const number = await work.open('asked');
    const { review, lines } = await commented(bob, number, [
      LINE,
      { path: 'lines.txt', body: 'old', old_position: 3 },
    ]);
    const reply = await ada.call('POST', repliesTo(number, lines[0]), { body: '  because\n' });
    expect(reply.status).toBe(201);
    const [asked, old] = (await bob.call('GET', `${reviewsOf(number)}/${review.id}/comments`)).items;
    expect(reply.body).toEqual({
      ...asked,
      id: expect.any(Number),
      body: '  because\n',
      user: expect.objectContaining({ login: 'ada' }),
      pull_request_review_id: expect.any(Number),
      created_at: expect.any(String),
      updated_at: expect.any(String),
      html_url: expect.stringMatching(new RegExp(`#issuecomment-${reply.body.id}$`)),
    });
    const id = reply.body['pull_request_review_id'] as number;
    expect((await bob.call('GET', `${reviewsOf(number)}/${id}`)).body).toMatchObject({
      state: 'COMMENT',
      body: '',
      user: { login: 'ada' },
      commit_id: review['commit_id'],
      stale: false,
      comments_count: 1,
    });
    expect((await ada.call('GET', `${reviewsOf(number)}/${id}/comments`)).items).toEqual([reply.body]);
    const told = await scene.sql.rows<{ payload: object }>`
      select payload from :schema.told where payload->>'kind' = 'review' order by id`;
    expect(told.at(-1)?.payload).toMatchObject({ verdict: 'comment', reviewId: id });
    const threads = async () => (await bob.call('GET', '/notifications')).items.length;
    await expect.poll(threads).toBe(1);
    // The other side, and an answer to the answer.
    const other = await bob.call('POST', repliesTo(number, old?.id), { body: 'was so' });
    expect(other.body).toMatchObject({ position: 0, original_position: 3, diff_hunk: old?.['diff_hunk'] });
    const again = await bob.call('POST', repliesTo(number, reply.body.id), { body: 'thanks' });
    expect(again.body).toMatchObject({ path: 'lines.txt', position: 3, user: { login: 'bob' } });
  });

  it('is not the review that its author was asked for', async () => {
    const { ada, bob, writer } = work;
    const number = await work.open('wanted');
    const { lines } = await commented(bob, number, [LINE]);
    await ada.call('POST', `${work.at}/pulls/${number}/requested_reviewers`, { reviewers: [writer.name] });
    expect((await writer.call('POST', repliesTo(number, lines[0]), { body: 'later' })).status).toBe(201);
    const wanted = async () =>
      (await ada.call('GET', `${work.at}/pulls/${number}`)).body['requested_reviewers'];
    expect(await wanted()).toEqual([expect.objectContaining({ login: writer.name })]);
    await work.review(writer, number, { event: 'APPROVED', body: '' });
    expect(await wanted()).toEqual([]);
  });

  it('is about the commit that was looked at, also when the head moved on and the pull request is closed', async () => {
    const { ada, bob } = work;
    const number = await work.open('moved');
    const { review, lines } = await commented(bob, number, [LINE]);
    await work.push('moved', 'more');
    await ada.call('PATCH', `${work.at}/pulls/${number}`, { state: 'closed' });
    const { status, body } = await ada.call('POST', repliesTo(number, lines[0]), { body: 'late' });
    expect([status, body['commit_id']]).toEqual([201, review['commit_id']]);
    const own = `${reviewsOf(number)}/${String(body['pull_request_review_id'])}`;
    expect((await bob.call('GET', own)).body).toMatchObject({ stale: true, commit_id: review['commit_id'] });
  });

  it('leaves the pending review of whoever answers alone', async () => {
    const { ada, bob } = work;
    const number = await work.open('pending');
    const { lines } = await commented(bob, number, [LINE]);
    const mine = await commented(ada, number, [{ ...LINE, body: 'hidden' }], 'PENDING');
    expect((await ada.call('POST', repliesTo(number, lines[0]), { body: 'seen' })).status).toBe(201);
    const states = async (who: typeof ada) =>
      (await who.call('GET', reviewsOf(number))).items.map((one) => one['state']);
    expect(await states(bob)).toEqual(['COMMENT', 'COMMENT']);
    expect(await states(ada)).toEqual(['COMMENT', 'PENDING', 'COMMENT']);
    const before = await stored();
    // Neither is what is pending there to be answered, whoever wrote it.
    for (const who of [bob, ada])
      expect((await who.call('POST', repliesTo(number, mine.lines[0]), { body: 'x' })).status).toBe(404);
    expect(await stored()).toEqual(before);
  });

  it('meets a deletion of what it answers, and is there or is not', async () => {
    const { ada, bob } = work;
    const number = await work.open('gone');
    for (let round = 0; round < 3; round++) {
      const { review, lines } = await commented(bob, number, [LINE]);
      const [reply, removal] = await Promise.all([
        ada.call('POST', repliesTo(number, lines[0]), { body: 'x' }),
        bob.call('DELETE', `${reviewsOf(number)}/${review.id}`),
      ]);
      expect([[201, 404].includes(reply.status), removal.status]).toEqual([true, 204]);
      const listed = await ada.call('GET', `${reviewsOf(number)}?limit=50`);
      const isThere = listed.items.some(({ id }) => id === reply.body['pull_request_review_id']);
      expect(isThere).toBe(reply.status === 201);
    }
  });
});

describe('nothing is answered', () => {
  let number: number;
  let line: number;
  beforeAll(async () => {
    number = await work.open('quiet');
    line = (await commented(work.bob, number, [LINE])).lines[0];
  });

  it.each([
    ['without a text', {}],
    ['with an empty one', { body: '' }],
    ['with a blank one', { body: ' \n\t' }],
    ['with NUL', { body: 'a\0b' }],
    ['with a number', { body: 5 }],
    ['with a very long text', { body: 'x'.repeat(1_000_001) }],
  ])('%s', async (_what, body) => {
    const before = await stored();
    expect((await work.ada.call('POST', repliesTo(number, line), body)).status).toBe(422);
    expect(await stored()).toEqual(before);
  });

  it('where there is no such comment, or none on a line', async () => {
    const { ada } = work;
    const other = await work.open('other');
    const words = await ada.call('POST', `${work.at}/issues/${number}/comments`, { body: 'words' });
    const before = await stored();
    for (const [path, status] of [
      [repliesTo(other, line), 404],
      [repliesTo(9999, line), 404],
      [repliesTo(number, 987654321), 404],
      [repliesTo(number, 'nonsense'), 404],
      [repliesTo(number, words.body.id), 400],
      [repliesTo(other, words.body.id), 404],
    ] as const)
      expect([path, (await ada.call('POST', path, { body: 'x' })).status]).toEqual([path, status]);
    const anonymous = `${scene.address}/api/v1${repliesTo(number, line)}`;
    expect((await request(anonymous, 'POST', { body: 'x' })).status).toBe(401);
    expect(await stored()).toEqual(before);
  });

  it('where an entry comes from what the caller may not read: as where there is none', async () => {
    const { ada, bob } = work;
    await ada.call('POST', '/user/repos', { name: 'secret', private: true });
    await ada.call('POST', '/repos/ada/secret/issues', { title: 'Hidden' });
    const blocker = { owner: 'ada', repo: 'secret', index: 1 };
    expect((await ada.call('POST', `${work.at}/issues/${number}/dependencies`, blocker)).status).toBe(201);
    const { items } = await ada.call('GET', `${work.at}/issues/${number}/timeline`);
    const id = items.find((entry) => entry['type'] === 'add_dependency')?.id ?? 0;
    const before = await stored();
    for (const path of [
      (entry: number) => repliesTo(number, entry),
      (entry: number) => `${work.at}/pulls/comments/${entry}/resolve`,
    ]) {
      const hidden = await bob.call('POST', path(id), { body: 'x' });
      const missing = await bob.call('POST', path(987654321), { body: 'x' });
      expect([hidden.status, hidden.text]).toEqual([404, missing.text]);
      expect((await ada.call('POST', path(id), { body: 'x' })).status).toBe(400);
    }
    expect(await stored()).toEqual(before);
  });

  it('in a locked conversation but by writers, nor in an archive', async () => {
    const { ada, bob, writer } = work;
    await ada.call('PUT', `${work.at}/issues/${number}/lock`, {});
    const quiet = await stored();
    expect((await bob.call('POST', repliesTo(number, line), { body: 'x' })).status).toBe(403);
    expect(await stored()).toEqual(quiet);
    expect((await writer.call('POST', repliesTo(number, line), { body: 'x' })).status).toBe(201);
    await ada.call('PATCH', work.at, { archived: true });
    const still = await stored();
    expect((await ada.call('POST', repliesTo(number, line), { body: 'x' })).status).toBe(423);
    expect(await stored()).toEqual(still);
    await ada.call('PATCH', work.at, { archived: false });
  });

  it('by whoever may not read the pull request or the code', async () => {
    const { ada, bob } = work;
    const { paul, at, number, comments } = await pullWithoutCode(scene, ada);
    const { lines } = await commented(ada, number, comments, 'COMMENT', at);
    const before = await stored();
    for (const who of [bob, paul]) {
      const refused = await who.call('POST', repliesTo(number, lines[0], at), { body: 'x' });
      expect([refused.status, refused.text]).toEqual([404, expect.not.stringContaining('hush')]);
    }
    expect(await stored()).toEqual(before);
  });
});
