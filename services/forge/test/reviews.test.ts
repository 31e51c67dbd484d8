import { beforeAll, describe, expect, it } from 'vitest';
import { request, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { type ReviewScene, reviewScene } from './review-scene.ts';

const scene = useForge();
let work: ReviewScene;
beforeAll(async () => {
  work = await reviewScene(scene, 'work');
  await recordHappenings(scene);
});

const reviewsOf = (number: number) => `${work.at}/pulls/${number}/reviews`;
/** After the commits it was opened with. */
const timelineOf = async (number: number) =>
  (await work.ada.call('GET', `${work.at}/issues/${number}/timeline`)).items.slice(1);
const told = () =>
  scene.sql.rows<{ payload: { kind: string } }>`
    select payload from forge.told where payload->>'kind' = 'review' order by id`;

describe('reviewing', () => {
  it('approves, requests changes and comments, for everybody to see', async () => {
    const { ada, bob, writer, open, review } = work;
    const number = await open('plain');
    const head = (await ada.call('GET', `${work.at}/pulls/${number}`)).body.head.sha;
    const approved = await review(writer, number, { event: 'APPROVED' });
    const page = `${scene.address}/ada/work/pulls/${number}`;
    expect(approved).toMatchObject({
      status: 200,
      body: {
        user: { login: 'writer' },
        team: null,
        state: 'APPROVED',
        body: '',
        commit_id: head,
        stale: false,
        official: true,
        dismissed: false,
        comments_count: 0,
        pull_request_url: page,
      },
    });
    const rejected = await review(bob, number, { event: 'REQUEST_CHANGES', body: 'no, @ada' });
    expect(rejected.body).toMatchObject({ state: 'REQUEST_CHANGES', body: 'no, @ada', official: false });
    const said = await review(ada, number, { event: 'COMMENT', body: 'why?' });
    expect(said.body).toMatchObject({ state: 'COMMENT', user: { login: 'ada' } });
    const listed = await bob.call('GET', reviewsOf(number));
    expect(listed.items.map(({ id }) => id)).toEqual([approved, rejected, said].map(({ body }) => body.id));
    expect(listed.headers.get('x-total-count')).toBe('3');
    expect((await ada.call('GET', `${reviewsOf(number)}/${said.body.id}`)).body).toEqual(said.body);
    const paged = await bob.call('GET', `${reviewsOf(number)}?limit=2&page=2`);
    expect(paged.items.map(({ id }) => id)).toEqual([said.body.id]);
    expect(paged.headers.get('link')).toContain('rel="prev"');
    expect(await timelineOf(number)).toMatchObject([
      { type: 'review', review_id: approved.body.id, user: { login: 'writer' }, body: '' },
      { type: 'review', review_id: rejected.body.id, body: 'no, @ada' },
      { type: 'review', review_id: said.body.id, body: 'why?' },
    ]);
    expect((await told()).map(({ payload }) => payload)).toMatchObject([
      { verdict: 'approved', reviewId: approved.body.id },
      { verdict: 'rejected' },
      { verdict: 'comment' },
    ]);
    expect((await ada.call('GET', `${work.at}/pulls/${number}`)).body['comments']).toBe(0);
  });

  it.each([
    ['approving an own one', 'ada', { event: 'APPROVED' }, 'approve your own pull is not allowed'],
    [
      'rejecting an own one',
      'ada',
      { event: 'REQUEST_CHANGES', body: 'x' },
      'reject your own pull is not allowed',
    ],
    [
      'changes without a word',
      'bob',
      { event: 'REQUEST_CHANGES', body: ' \n' },
      'review event REQUEST_CHANGES requires a body',
    ],
    [
      'a comment without a word',
      'bob',
      { event: 'COMMENT' },
      'review event COMMENT requires a body or a comment',
    ],
    ['nothing at all', 'bob', {}, 'review event PENDING requires a body'],
    ['a NUL', 'bob', { event: 'COMMENT', body: 'a\0b' }, '[Body]: NUL is not allowed'],
    [
      'a very long text',
      'bob',
      { event: 'COMMENT', body: 'x'.repeat(1_000_001) },
      '[Body]: MaxSize(1000000)',
    ],
    [
      'a commit nobody has',
      'bob',
      { event: 'APPROVED', commit_id: 'f'.repeat(40) },
      '[CommitID]: no commit of the repository',
    ],
    [
      'a branch for a commit',
      'bob',
      { event: 'APPROVED', commit_id: 'main' },
      '[CommitID]: no commit of the repository',
    ],
    [
      'an option for a commit',
      'bob',
      { event: 'APPROVED', commit_id: '--all' },
      '[CommitID]: no commit of the repository',
    ],
  ])('refuses %s', async (_what, who, body, message) => {
    const before = await work.stored();
    const person = who === 'ada' ? work.ada : work.bob;
    const refused = await work.review(person, 1, body);
    expect([refused.status, refused.body.message]).toEqual([422, message]);
    expect(await work.stored()).toEqual(before);
  });

  it('takes no verdict on a closed pull request, but comments', async () => {
    const number = await work.open('closed');
    await work.ada.call('PATCH', `${work.at}/pulls/${number}`, { state: 'closed' });
    const before = await work.stored();
    for (const event of ['APPROVED', 'REQUEST_CHANGES'])
      expect((await work.review(work.bob, number, { event, body: 'x' })).status).toBe(422);
    expect(await work.stored()).toEqual(before);
    expect((await work.review(work.bob, number, { event: 'COMMENT', body: 'pity' })).status).toBe(200);
  });

  it('is for those who may read, where it is not locked nor archived', async () => {
    const { ada, bob, writer, review, stored } = work;
    const hidden = await reviewScene(scene, 'hidden', work);
    const number = await hidden.open('topic');
    const mine = (await hidden.review(writer, number, { event: 'APPROVED' })).body;
    await ada.call('PATCH', hidden.at, { private: true });
    const before = await stored();
    const one = `${hidden.at}/pulls/${number}/reviews`;
    for (const [method, path, body] of [
      ['GET', one, undefined],
      ['POST', one, { event: 'APPROVED' }],
      ['GET', `${one}/${mine.id}`, undefined],
      ['GET', `${one}/${mine.id}/comments`, undefined],
      ['POST', `${one}/${mine.id}`, { event: 'APPROVED' }],
      ['DELETE', `${one}/${mine.id}`, undefined],
      ['POST', `${one}/${mine.id}/dismissals`, { message: '' }],
      ['POST', `${hidden.at}/pulls/${number}/requested_reviewers`, { reviewers: ['writer'] }],
    ] as const)
      expect([path, (await bob.call(method, path, body)).status]).toEqual([path, 404]);
    // Nor is it there under the name of another pull request.
    for (const path of [`${reviewsOf(1)}/${mine.id}`, `${reviewsOf(1)}/nonsense`, `${reviewsOf(99)}`])
      expect((await ada.call('GET', path)).status).toBe(404);
    expect((await request(`${scene.address}/api/v1${reviewsOf(1)}`, 'POST', {})).status).toBe(401);
    expect(await stored()).toEqual(before);

    const locked = await work.open('locked');
    await ada.call('PUT', `${work.at}/issues/${locked}/lock`, {});
    const quiet = await stored();
    expect((await review(bob, locked, { event: 'COMMENT', body: 'x' })).status).toBe(403);
    expect(await stored()).toEqual(quiet);
    expect((await review(writer, locked, { event: 'COMMENT', body: 'x' })).status).toBe(200);

    await ada.call('PATCH', hidden.at, { archived: true });
    const still = await stored();
    for (const [method, path, body] of [
      ['POST', one, { event: 'COMMENT', body: 'x' }],
      ['DELETE', `${one}/${mine.id}`, undefined],
    ] as const)
      expect((await writer.call(method, path, body)).status).toBe(423);
    expect((await ada.call('POST', `${one}/${mine.id}/dismissals`, { message: 'x' })).status).toBe(423);
    expect(await stored()).toEqual(still);
  });
});

describe('a pending review', () => {
  it('is one for each person, seen by nobody else, and goes out as a whole', async () => {
    const { ada, bob, writer, open, review, stored } = work;
    const number = await open('pending');
    const begun = await review(bob, number, {
      body: 'draft',
      comments: [{ path: 'new.txt', body: 'secret thought', new_position: 1 }],
    });
    expect(begun.body).toMatchObject({ state: 'PENDING', body: 'draft', comments_count: 1 });
    const id = begun.body.id;
    const more = await review(bob, number, {
      event: 'PENDING',
      body: 'second draft',
      comments: [{ path: 'lines.txt', body: 'and this', old_position: 3 }],
    });
    expect(more.body).toMatchObject({ id, body: 'second draft', comments_count: 2 });
    // His own: to others it is not there, nor are its comments anywhere.
    const comments = await bob.call('GET', `${reviewsOf(number)}/${id}/comments`);
    expect(comments.items).toHaveLength(2);
    const before = await stored();
    const root = scene.person('root', { role: 'service_role' });
    for (const other of [ada, writer, root]) {
      for (const path of ['', '/comments'])
        expect((await other.call('GET', `${reviewsOf(number)}/${id}${path}`)).status).toBe(404);
      expect((await other.call('POST', `${reviewsOf(number)}/${id}`, { event: 'APPROVED' })).status).toBe(
        404,
      );
      expect((await other.call('DELETE', `${reviewsOf(number)}/${id}`)).status).toBe(404);
      expect((await other.call('GET', reviewsOf(number))).text).toBe('[]\n'.trim());
      expect((await other.call('GET', reviewsOf(number))).headers.get('x-total-count')).toBe('0');
      for (const { id: comment } of comments.items)
        expect((await other.call('GET', `${work.at}/issues/comments/${comment}`)).status).toBe(404);
      expect((await other.call('GET', `${work.at}/issues/${number}/timeline`)).text).not.toContain('thought');
      expect((await other.call('GET', `${work.at}/issues/comments`)).text).not.toContain('thought');
      expect((await other.call('GET', `${work.at}/issues?type=pulls&q=thought`)).items).toEqual([]);
    }
    expect(await stored()).toEqual(before);
    const stays = await bob.call('POST', `${reviewsOf(number)}/${id}`, { event: 'PENDING' });
    expect([stays.status, stays.body.message]).toEqual([422, 'review stay pending']);
    expect(await stored()).toEqual(before);

    const submitted = await bob.call('POST', `${reviewsOf(number)}/${id}`, { event: 'COMMENT' });
    expect(submitted).toMatchObject({ status: 200, body: { id, state: 'COMMENT', body: 'second draft' } });
    expect((await timelineOf(number)).map(({ type, body, review_id }) => [type, body, review_id])).toEqual([
      // Comments on lines are told by their review, as in the reference.
      ['review', 'second draft', id],
    ]);
    const after = await stored();
    const again = await bob.call('POST', `${reviewsOf(number)}/${id}`, { event: 'APPROVED' });
    expect([again.status, again.body.message]).toEqual([422, 'only pending reviews can be submitted']);
    expect(await stored()).toEqual(after);
  });

  it('goes out with what is said next', async () => {
    const number = await work.open('next');
    const comment = { path: 'new.txt', body: 'here', new_position: 2 };
    const { id } = (await work.review(work.writer, number, { body: 'draft', comments: [comment] })).body;
    const said = await work.review(work.writer, number, { event: 'APPROVED', body: 'fine' });
    expect(said.body).toMatchObject({ id, state: 'APPROVED', body: 'fine', comments_count: 1 });
    // A comment may do without a text when lines were commented before.
    await work.review(work.writer, number, { body: 'draft', comments: [comment] });
    const another = await work.review(work.writer, number, { event: 'COMMENT' });
    expect(another.body).toMatchObject({ state: 'COMMENT', body: '', comments_count: 1 });
    expect(another.body.id).not.toBe(id);
  });

  it('goes away with everything of it', async () => {
    const { bob, writer, open, review, stored } = work;
    const number = await open('gone');
    const comments = [{ path: 'new.txt', body: 'x', new_position: 1 }];
    const pending = (await review(bob, number, { body: 'draft', comments })).body;
    const submitted = (await review(writer, number, { event: 'APPROVED', comments })).body;
    const before = await stored();
    for (const other of [bob, work.keeper])
      expect((await other.call('DELETE', `${reviewsOf(number)}/${submitted.id}`)).status).toBe(403);
    expect(await stored()).toEqual(before);
    expect((await bob.call('DELETE', `${reviewsOf(number)}/${pending.id}`)).status).toBe(204);
    expect((await writer.call('DELETE', `${reviewsOf(number)}/${submitted.id}`)).status).toBe(204);
    expect((await writer.call('DELETE', `${reviewsOf(number)}/${submitted.id}`)).status).toBe(404);
    expect(await timelineOf(number)).toEqual([]);
    expect(
      await scene.sql
        .rows`select from :schema.review_comments where review_id in (${pending.id}, ${submitted.id})`,
    ).toEqual([]);
  });
});
