import { Readable } from 'node:stream';
import { silentLog } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { type Database, openDatabase } from '@croft/sql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../src/context.ts';
import { forgeSettings } from '../src/index.ts';
import { listIssues } from '../src/issues/list-issues.ts';
import { Links } from '../src/links.ts';
import { listAnswer } from '../src/list-answer.ts';
import { reviewTexts } from '../src/reviews/review-texts.ts';
import { type Person, useForge } from './forge.ts';

// Pages whose texts are not to be in memory together: they come in parts, and are what pages of one entry are.

const scene = useForge();
const repo = '/repos/ada/tools';
const ENTRIES = 12;
/** Bytes of each text: three of them are more than a part. */
const SIZE = 450_000;
let ada: Person;
let database: Database;
/** The one with many comments. */
let review = 0;
beforeAll(async () => {
  ada = scene.person('ada');
  database = openDatabase({ url: scene.databaseUrl, schema: 'forge', log: silentLog });
  await ada.call('POST', '/user/repos', { name: 'tools', auto_init: true });
  for (let index = 0; index < ENTRIES; index++) {
    const body = `${index} "${'é\n'.repeat(SIZE / 3)}"`;
    // Later ones name the first, whose timeline then shows all of them.
    await ada.call('POST', `${repo}/issues`, { title: `Issue ${index}`, body: `see #1 ${body}` });
    await ada.call('POST', `${repo}/issues/1/comments`, { body });
    await ada.call('POST', `${repo}/issues/1/times`, { time: 60 });
    if (index === 0) continue;
    const dependency = { owner: 'ada', repo: 'tools', index: index + 1 };
    await ada.call('POST', `${repo}/issues/1/dependencies`, dependency);
  }
  for (let index = 0; index < 4; index++) {
    const head = `topic-${index}`;
    const file = { content: 'eA==', new_branch: head, message: 'x' };
    await ada.call('POST', `${repo}/contents/${head}.txt`, file);
    const made = await ada.call('POST', `${repo}/pulls`, { head, base: 'main', title: head });
    await ada.call('PATCH', `${repo}/pulls/${made.body.number}`, { body: 'y '.repeat(SIZE / 2) });
  }
  for (let index = 0; index < ENTRIES; index++) {
    const body = `${index} ${'é\n'.repeat(SIZE / 3)}`;
    const comments = [{ path: 'topic-0.txt', new_position: 1, body }];
    review = (await ada.call('POST', reviewed, { body: 'later', comments })).body.id;
  }
  await ada.call('POST', `${reviewed}/${review}`, { event: 'COMMENT' });
  for (let index = 1; index < ENTRIES; index++) {
    const body = `${index} ${'é\n'.repeat(SIZE / 3)}`;
    await ada.call('POST', reviewed, { event: 'COMMENT', body });
    await ada.call('POST', `${repo}/releases`, { tag_name: `v${index}`, body, draft: index % 2 === 0 });
  }
}, 600_000);
afterAll(() => database.close());

/** A forge without git, for what only reads rows. */
const contextOf = () =>
  ({
    settings: readSettings(forgeSettings, {}),
    database,
    links: new Links(scene.address),
  }) as unknown as Context;
const listed = () =>
  listIssues(contextOf(), undefined, { owner: 'ada', repo: 'tools' }, { limit: '50', type: 'issues' });

const reviewed = `${repo}/pulls/${ENTRIES + 1}/reviews`;
const PAGES = {
  'the issues of a repository': [`${repo}/issues?type=issues`, ENTRIES],
  'a search': ['/repos/issues/search?type=issues', ENTRIES],
  'the pull requests of a repository': [`${repo}/pulls?state=all`, 4],
  'the comments of an issue': [`${repo}/issues/1/comments?page=1`, ENTRIES],
  'the comments of a repository': [`${repo}/issues/comments?page=1`, ENTRIES],
  // Comments, references, times, dependencies.
  'a timeline': [`${repo}/issues/1/timeline?page=1`, ENTRIES + (ENTRIES - 1) + ENTRIES + (ENTRIES - 1)],
  'what an issue waits for': [`${repo}/issues/1/dependencies?page=1`, ENTRIES - 1],
  'the times of one issue': [`${repo}/issues/1/times?page=1`, ENTRIES],
  'the reviews of a pull request': [`${reviewed}?page=1`, ENTRIES],
  'the comments of a review': [`${reviewed}/{review}/comments?page=1`, ENTRIES],
  'the releases of a repository': [`${repo}/releases?page=1`, ENTRIES - 1],
} as const;

describe('a page with very much text', () => {
  it.each(Object.entries(PAGES))('is whole and in order: %s', async (_, [named, entries]) => {
    const path = named.replace('{review}', String(review));
    // References are followed after the answer to what has them.
    const count = async () => (await ada.call('GET', `${path}&limit=1`)).headers.get('x-total-count');
    await expect.poll(count).toBe(String(entries));
    const whole = await ada.call('GET', `${path}&limit=50`);
    expect([whole.status, whole.items.length]).toEqual([200, entries]);
    // In parts, which nobody hashes.
    expect(whole.headers.get('etag')).toBeNull();
    expect(whole.headers.get('x-total-count')).toBe(String(entries));
    expect(whole.headers.get('content-type')).toBe('application/json; charset=utf-8');
    for (let index = 0; index < entries; index++) {
      const one = await ada.call('GET', `${path.replace('page=1', '')}&limit=1&page=${index + 1}`);
      // Compared as a whole, and not shown, as they are long.
      expect([index, JSON.stringify(one.items) === JSON.stringify([whole.items[index]])]).toEqual([
        index,
        true,
      ]);
    }
    expect((await ada.call('HEAD', `${path}&limit=50`)).status).toBe(200);
  });

  it('attack: is loaded no faster than its reader takes it', async () => {
    const { body } = listAnswer(contextOf(), '/', await listed());
    expect(body).toBeInstanceOf(Readable);
    let parts = 0;
    let before = database.roundTrips;
    for await (const chunk of body as Readable) {
      // Whatever was taken, nothing is asked for until more is.
      await new Promise((resolve) => setImmediate(resolve));
      expect(database.roundTrips - before).toBeLessThanOrEqual(2);
      expect((chunk as Buffer).length).toBeLessThan(2 * 1024 * 1024);
      before = database.roundTrips;
      parts++;
    }
    expect(parts).toBeGreaterThanOrEqual(ENTRIES / 3);
  });

  it('attack: is the texts of a review, which its event reads a part at a time', async () => {
    const [row] = await scene.sql.rows<{ issue_id: number }>`
      select issue_id from :schema.comments where kind = 'review' and (details->>'review_id')::bigint = ${review}`;
    const before = database.roundTrips;
    const texts: string[] = [];
    for await (const { body } of reviewTexts(contextOf(), row?.issue_id ?? 0, review))
      texts.push(body.split(' ', 1)[0] ?? '');
    expect(texts).toEqual(['later', ...Array.from({ length: ENTRIES }, (_, index) => String(index))]);
    expect(database.roundTrips - before).toBeGreaterThanOrEqual(ENTRIES / 3);
  });

  it('goes on without what was deleted meanwhile', async () => {
    const page = await listed();
    for (const number of [ENTRIES - 5, 1])
      expect((await ada.call('DELETE', `${repo}/issues/${number}`)).status).toBe(204);
    const issues = [...page.items];
    for await (const more of page.rest ?? []) issues.push(...more);
    const numbers = (issues as { number: number }[]).map(({ number }) => number);
    const all = Array.from({ length: ENTRIES }, (_, index) => ENTRIES - index);
    expect(numbers).toEqual(all.filter((number) => number !== ENTRIES - 5 && number !== 1));
  });
});
