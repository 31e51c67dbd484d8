import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { useForge } from './forge.ts';
import { type ReviewScene, reviewScene } from './review-scene.ts';

const scene = useForge();
let work: ReviewScene;
beforeAll(async () => {
  work = await reviewScene(scene, 'work');
});

const reviewOf = async (number: number, id: number) =>
  (await work.bob.call('GET', `${work.at}/pulls/${number}/reviews/${id}`)).body;
const entriesOf = async (number: number, kind: string) =>
  (await work.ada.call('GET', `${work.at}/issues/${number}/timeline`)).items.filter(
    ({ type }) => type === kind,
  );
const protect = (options: object) =>
  work.ada.call('POST', `${work.at}/branch_protections`, {
    rule_name: 'main',
    enable_push: true,
    ...options,
  });
const unprotect = () => work.ada.call('DELETE', `${work.at}/branch_protections/main`);

describe('dismissing a review', () => {
  it('is for administrators, counts once, and can be undone', async () => {
    const { keeper, writer, bob, open, review, stored } = work;
    const number = await open('dismiss');
    const first = (await review(writer, number, { event: 'APPROVED' })).body.id;
    const second = (await review(writer, number, { event: 'REQUEST_CHANGES', body: 'no' })).body.id;
    const comment = (await review(bob, number, { event: 'COMMENT', body: 'well' })).body.id;
    const at = (id: number) => `${work.at}/pulls/${number}/reviews/${id}`;
    const before = await stored();
    for (const other of [writer, bob])
      for (const how of ['dismissals', 'undismissals'])
        expect((await other.call('POST', `${at(first)}/${how}`, { message: 'x' })).status).toBe(403);
    expect((await keeper.call('POST', `${at(comment)}/dismissals`, { message: 'x' })).status).toBe(403);
    const long = { message: 'x'.repeat(1_000_001) };
    expect((await keeper.call('POST', `${at(first)}/dismissals`, long)).status).toBe(422);
    expect(await stored()).toEqual(before);

    expect((await keeper.call('POST', `${at(first)}/undismissals`)).body).toMatchObject({ dismissed: false });
    const answer = await keeper.call('POST', `${at(second)}/dismissals`, { message: 'done', priors: true });
    expect(answer).toMatchObject({ status: 200, body: { id: second, dismissed: true } });
    expect(await reviewOf(number, first)).toMatchObject({ dismissed: true });
    expect(await entriesOf(number, 'dismiss_review')).toMatchObject([
      { body: 'done', review_id: second, user: { login: 'keeper' } },
    ]);
    const after = await stored();
    expect((await keeper.call('POST', `${at(second)}/dismissals`, { message: 'again' })).status).toBe(200);
    expect(await stored()).toEqual(after);
    expect((await keeper.call('POST', `${at(second)}/undismissals`)).body).toMatchObject({
      dismissed: false,
    });
    expect(await reviewOf(number, first)).toMatchObject({ dismissed: true });

    await work.ada.call('PATCH', `${work.at}/pulls/${number}`, { state: 'closed' });
    const closed = await stored();
    expect((await keeper.call('POST', `${at(second)}/dismissals`, {})).status).toBe(403);
    expect(await stored()).toEqual(closed);
  });
});

describe('a verdict', () => {
  const saying = {
    APPROVED: { event: 'APPROVED' },
    REQUEST_CHANGES: { event: 'REQUEST_CHANGES', body: 'no' },
  };

  it('takes the place of those the same person gave before, and says so of them', async () => {
    const { writer, keeper, open, review } = work;
    const number = await open('replaced');
    const other = (await review(keeper, number, saying.APPROVED)).body.id;
    const words = (await review(writer, number, { event: 'COMMENT', body: 'well' })).body.id;
    const first = (await review(writer, number, saying.APPROVED)).body.id;
    expect(await reviewOf(number, first)).toMatchObject({ dismissed: false, official: true });
    const draft = (await review(writer, number, { body: 'draft' })).body.id;
    const comment = (await review(writer, number, { event: 'COMMENT', body: 'more' })).body.id;
    expect(comment).toBe(draft);
    expect(await reviewOf(number, first)).toMatchObject({ dismissed: false, official: true });
    await review(writer, number, { body: 'draft' });
    const pending = (await review(writer, number, { body: 'still a draft' })).body.id;
    expect(await reviewOf(number, first)).toMatchObject({ dismissed: false, official: true });
    const submitted = await writer.call(
      'POST',
      `${work.at}/pulls/${number}/reviews/${pending}`,
      saying.APPROVED,
    );
    expect(submitted.body).toMatchObject({ dismissed: false, official: true });
    expect(await reviewOf(number, first)).toMatchObject({ dismissed: true, official: false });
    const last = (await review(writer, number, saying.REQUEST_CHANGES)).body;
    expect(last).toMatchObject({ dismissed: false, official: true });
    expect(await reviewOf(number, pending)).toMatchObject({ dismissed: true, official: false });
    for (const id of [other, words, comment])
      expect(await reviewOf(number, id)).toMatchObject({ dismissed: false, official: true });
    expect(await entriesOf(number, 'dismiss_review')).toEqual([]);
  });

  it.each([
    ['dismissed', (id: number, at: string) => work.keeper.call('POST', `${at}/${id}/dismissals`, {})],
    ['deleted', (id: number, at: string) => work.writer.call('DELETE', `${at}/${id}`)],
  ] as const)('that is %s does not bring the one before back', async (how, undo) => {
    await protect({ required_approvals: 1, block_on_rejected_reviews: true });
    const { ada, writer, open, review, push, stored } = work;
    const merge = (number: number) => ada.call('POST', `${work.at}/pulls/${number}/merge`, {});
    const withdrawn = await open(`withdrawn-${how}`);
    await review(writer, withdrawn, saying.APPROVED);
    await push(`withdrawn-${how}`, 'evil');
    const no = (await review(writer, withdrawn, saying.REQUEST_CHANGES)).body.id;
    expect([200, 204]).toContain((await undo(no, `${work.at}/pulls/${withdrawn}/reviews`)).status);
    const before = [await stored(), (await ada.call('GET', `${work.at}/branches/main`)).text];
    const refused = await merge(withdrawn);
    expect(refused).toMatchObject({ status: 405, body: { message: 'Does not have enough approvals' } });
    expect([await stored(), (await ada.call('GET', `${work.at}/branches/main`)).text]).toEqual(before);
    await review(writer, withdrawn, saying.APPROVED);

    const forgiven = await open(`forgiven-${how}`);
    await review(writer, forgiven, saying.REQUEST_CHANGES);
    const yes = (await review(writer, forgiven, saying.APPROVED)).body.id;
    expect([200, 204]).toContain((await undo(yes, `${work.at}/pulls/${forgiven}/reviews`)).status);
    expect(await merge(forgiven)).toMatchObject({
      status: 405,
      body: { message: 'Does not have enough approvals' },
    });
    expect((await review(work.keeper, forgiven, saying.APPROVED)).status).toBe(200);
    expect((await merge(forgiven)).status).toBe(200);
    await unprotect();
  });

  it('counts no more once a later one is there, also where an administrator brings it back', async () => {
    await protect({ required_approvals: 1, block_on_rejected_reviews: true });
    const { ada, keeper, writer, open, review, stored } = work;
    const number = await open('brought-back');
    const yes = (await review(writer, number, saying.APPROVED)).body.id;
    const no = (await review(writer, number, saying.REQUEST_CHANGES)).body.id;
    const at = `${work.at}/pulls/${number}/reviews`;
    expect((await keeper.call('POST', `${at}/${no}/dismissals`, {})).status).toBe(200);
    expect((await keeper.call('POST', `${at}/${yes}/undismissals`)).body).toMatchObject({ dismissed: false });
    // Nor where it was given before later ones took its place in its row.
    await scene.sql.rows`update :schema.reviews set official = true where id = ${yes}`;
    const before = await stored();
    const refused = await ada.call('POST', `${work.at}/pulls/${number}/merge`, {});
    expect(refused).toMatchObject({ status: 405, body: { message: 'Does not have enough approvals' } });
    expect(await stored()).toEqual(before);
    await unprotect();
  });
});

describe('a head that moves', () => {
  it('makes reviews stale, and comes back to them', async () => {
    const { writer, open, review, push, tree } = work;
    const number = await open('moving');
    const { id } = (await review(writer, number, { event: 'APPROVED' })).body;
    const old = (await reviewOf(number, id))['commit_id'];
    await push('moving', 'more');
    expect(await reviewOf(number, id)).toMatchObject({ stale: true, dismissed: false, commit_id: old });
    const again = (await review(writer, number, { event: 'APPROVED' })).body;
    expect(again).toMatchObject({ stale: false });
    // Said of the commit that was looked at, though the head is another by now.
    const late = (await review(work.bob, number, { event: 'APPROVED', commit_id: old })).body;
    expect(late).toMatchObject({ stale: true, commit_id: old });
    await git(tree, 'push', '-q', '-f', 'origin', `${String(old)}:moving`);
    expect(await reviewOf(number, id)).toMatchObject({ stale: false });
    expect(await reviewOf(number, again.id)).toMatchObject({ stale: true });
  });

  it('dismisses approvals where the protection says so, and nothing else', async () => {
    const { writer, keeper, bob, open, review, push } = work;
    const number = await open('strict');
    const approved = (await review(writer, number, { event: 'APPROVED' })).body.id;
    const rejected = (await review(keeper, number, { event: 'REQUEST_CHANGES', body: 'no' })).body.id;
    const pending = (await review(bob, number, { body: 'draft' })).body.id;
    expect((await protect({ dismiss_stale_approvals: true })).status).toBe(201);
    await push('strict', 'more');
    expect(await reviewOf(number, approved)).toMatchObject({ stale: true, dismissed: true });
    expect(await reviewOf(number, rejected)).toMatchObject({ stale: true, dismissed: false });
    expect(await reviewOf(number, pending)).toMatchObject({ state: 'PENDING' });
    expect(await entriesOf(number, 'dismiss_review')).toMatchObject([{ review_id: approved }]);
    await push('strict', 'even more');
    expect(await entriesOf(number, 'dismiss_review')).toHaveLength(1);
    await unprotect();
  });
});

describe('whether a review counts', () => {
  it('is for writers, or for those the protection lists', async () => {
    const { ada, bob, writer, open, review } = work;
    const number = await open('official');
    const isOfficial = async (who: typeof bob) =>
      (await review(who, number, { event: 'COMMENT', body: 'x' })).body['official'];
    expect([await isOfficial(writer), await isOfficial(bob), await isOfficial(ada)]).toEqual([
      true,
      false,
      true,
    ]);
    await protect({ enable_approvals_whitelist: true, approvals_whitelist_username: ['keeper'] });
    expect([await isOfficial(writer), await isOfficial(work.keeper)]).toEqual([false, true]);
    await unprotect();
  });

  it.each([
    ['listed', { enable_approvals_whitelist: true, approvals_whitelist_username: ['writer'] }],
    ['a writer', {}],
  ])('attack: who was %s approves nothing once he is removed, before or after', async (what, list) => {
    const { ada, at, writer, open, review } = work;
    const number = await open(`removed-${what.replace(' ', '-')}`);
    expect((await protect({ required_approvals: 1, ...list })).status).toBe(201);
    const approve = () => review(writer, number, { event: 'APPROVED' });
    const merge = async () => (await ada.call('POST', `${at}/pulls/${number}/merge`, {})).status;
    expect((await approve()).body).toMatchObject({ official: true });
    expect((await ada.call('DELETE', `${at}/collaborators/writer`)).status).toBe(204);
    expect(await merge()).toBe(405);
    expect((await approve()).body).toMatchObject({ official: false });
    expect(await merge()).toBe(405);
    await ada.call('PUT', `${at}/collaborators/writer`, { permission: 'write' });
    expect(await merge()).toBe(405);
    await approve();
    expect(await merge()).toBe(200);
    await unprotect();
  });
});

describe('another base', () => {
  const objecting = { event: 'REQUEST_CHANGES', body: 'no' };
  const onlyKeeper = { enable_approvals_whitelist: true, approvals_whitelist_username: ['keeper'] };
  const strict = { block_on_rejected_reviews: true, block_on_official_review_requests: true };
  const base = async (number: number, name: string) =>
    await work.ada.call('PATCH', `${work.at}/pulls/${number}`, { base: name });
  const merge = async (number: number) => await work.ada.call('POST', `${work.at}/pulls/${number}/merge`, {});
  const rule = (name: string, options: object) =>
    work.ada.call('POST', `${work.at}/branch_protections`, {
      rule_name: name,
      enable_push: true,
      ...options,
    });
  const tip = async (name: string) => (await work.ada.call('GET', `${work.at}/branches/${name}`)).text;
  beforeAll(async () => {
    for (const name of ['listing', 'free']) await git(work.tree, 'push', '-q', 'origin', `main:${name}`);
    await rule('listing', { ...strict, ...onlyKeeper });
    await rule('free', strict);
  });

  it('counts objections, and is held up by requests, that the former one did not know', async () => {
    const { ada, writer, at, open, review, stored } = work;
    const [objected, asked] = [await open('objected'), await open('asked')];
    for (const number of [objected, asked]) expect((await base(number, 'listing')).status).toBe(201);
    const { id } = (await review(writer, objected, objecting)).body;
    const gone = (await review(work.bob, objected, objecting)).body.id;
    expect(await reviewOf(objected, id)).toMatchObject({ official: false });
    const wish = { reviewers: ['writer', 'bob'] };
    expect((await ada.call('POST', `${at}/pulls/${asked}/requested_reviewers`, wish)).status).toBe(201);
    for (const number of [objected, asked]) expect((await base(number, 'free')).status).toBe(201);
    expect(await reviewOf(objected, id)).toMatchObject({ official: true, dismissed: false });
    // Who may not write is in nobody's way.
    expect(await reviewOf(objected, gone)).toMatchObject({ official: false });
    const before = [await stored(), await tip('free')];
    expect(await merge(objected)).toMatchObject({
      status: 405,
      body: { message: 'There are requested changes' },
    });
    expect(await merge(asked)).toMatchObject({
      status: 405,
      body: { message: 'There are official review requests' },
    });
    expect([await stored(), await tip('free')]).toEqual(before);
  });

  it('is what an objection counts for that was dismissed before and is brought back', async () => {
    const { ada, writer, keeper, at, open, review, stored } = work;
    const [known, unknown] = [await open('known-now'), await open('unknown-now')];
    const moved: [number, string, string][] = [
      [known, 'listing', 'free'],
      [unknown, 'free', 'listing'],
    ];
    const ids: number[] = [];
    for (const [number, former, latter] of moved) {
      expect((await base(number, former)).status).toBe(201);
      const { id } = (await review(writer, number, objecting)).body;
      ids.push(id);
      const path = `${at}/pulls/${number}/reviews/${id}`;
      expect((await keeper.call('POST', `${path}/dismissals`, {})).status).toBe(200);
      expect((await base(number, latter)).status).toBe(201);
      expect((await keeper.call('POST', `${path}/undismissals`)).status).toBe(200);
    }
    expect(await reviewOf(known, ids[0] ?? 0)).toMatchObject({ official: true, dismissed: false });
    expect(await reviewOf(unknown, ids[1] ?? 0)).toMatchObject({ official: false, dismissed: false });
    const before = [await stored(), await tip('free')];
    expect((await merge(known)).body).toMatchObject({ message: 'There are requested changes' });
    expect([await stored(), await tip('free')]).toEqual(before);
    expect((await merge(unknown)).status).toBe(200);
    // One that a later verdict took the place of comes back as that left it.
    const replaced = await open('replaced-before');
    expect((await base(replaced, 'free')).status).toBe(201);
    const { id } = (await review(writer, replaced, objecting)).body;
    await review(writer, replaced, { event: 'APPROVED' });
    await keeper.call('POST', `${at}/pulls/${replaced}/reviews/${id}/undismissals`);
    expect(await reviewOf(replaced, id)).toMatchObject({ official: false, dismissed: false });
    expect((await ada.call('POST', `${at}/pulls/${replaced}/merge`, {})).status).toBe(200);
  });

  it('forgets those that only the former one knew', async () => {
    const { ada, writer, keeper, at, open, review, stored } = work;
    const [number, other] = [await open('forgotten'), await open('remembered')];
    for (const one of [number, other]) expect((await base(one, 'free')).status).toBe(201);
    const { id } = (await review(writer, number, objecting)).body;
    const dismissed = (await review(keeper, number, objecting)).body.id;
    expect(
      (await keeper.call('POST', `${at}/pulls/${number}/reviews/${dismissed}/dismissals`, {})).status,
    ).toBe(200);
    const wish = { reviewers: ['bob', 'writer'] };
    expect((await ada.call('POST', `${at}/pulls/${number}/requested_reviewers`, wish)).status).toBe(201);
    expect(await merge(number)).toMatchObject({ status: 405 });
    expect((await review(keeper, other, objecting)).status).toBe(200);
    for (const one of [number, other]) expect((await base(one, 'listing')).status).toBe(201);
    expect(await reviewOf(number, id)).toMatchObject({ official: false, dismissed: false });
    const before = [await stored(), await tip('listing')];
    expect((await merge(other)).body).toMatchObject({ message: 'There are requested changes' });
    expect([await stored(), await tip('listing')]).toEqual(before);
    expect((await merge(number)).status).toBe(200);
  });
});

describe('at once', () => {
  it('two reviews of one person are one pending review', async () => {
    const number = await work.open('twice');
    const comment = { path: 'new.txt', body: 'x', new_position: 1 };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => work.review(work.bob, number, { body: 'draft', comments: [comment] })),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect(await reviewOf(number, answers[0]?.body.id ?? 0)).toMatchObject({ comments_count: 6 });
  });

  it('a review is submitted once', async () => {
    const number = await work.open('once');
    const { id } = (await work.review(work.writer, number, { body: 'draft' })).body;
    const submit = () =>
      work.writer.call('POST', `${work.at}/pulls/${number}/reviews/${id}`, { event: 'APPROVED' });
    const answers = await Promise.all(Array.from({ length: 6 }, submit));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422, 422, 422]);
    expect(await entriesOf(number, 'review')).toHaveLength(1);
  });

  it('a review of a head that moves is stale exactly when it is not about the head', async () => {
    const number = await work.open('racing');
    for (let round = 0; round < 5; round++) {
      const [, ...answers] = await Promise.all([
        work.push('racing', `round ${round}`),
        ...[work.writer, work.keeper, work.bob].map((who) => work.review(who, number, { event: 'APPROVED' })),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      const { head } = (await work.ada.call('GET', `${work.at}/pulls/${number}`)).body;
      for (const { body } of answers) {
        const now = await reviewOf(number, body.id);
        expect(now['stale']).toBe(now['commit_id'] !== head.sha);
      }
    }
  });

  it('a person is asked once', async () => {
    const number = await work.open('asked');
    const ask = () =>
      work.ada.call('POST', `${work.at}/pulls/${number}/requested_reviewers`, { reviewers: ['bob'] });
    const answers = await Promise.all(Array.from({ length: 6 }, ask));
    expect(answers.map(({ items }) => items.length).sort()).toEqual([0, 0, 0, 0, 0, 1]);
    expect(await entriesOf(number, 'review_request')).toHaveLength(1);
  });

  it('an approval and the end of the pull request do not both happen out of order', async () => {
    for (let round = 0; round < 3; round++) {
      const number = await work.open(`closing-${round}`);
      const [closed, approved] = await Promise.all([
        work.ada.call('PATCH', `${work.at}/pulls/${number}`, { state: 'closed' }),
        work.review(work.writer, number, { event: 'APPROVED' }),
      ]);
      expect(closed.status).toBe(201);
      expect([200, 422]).toContain(approved.status);
      const stored = await work.ada.call('GET', `${work.at}/pulls/${number}/reviews`);
      expect(stored.items).toHaveLength(approved.status === 200 ? 1 : 0);
    }
  });
});
