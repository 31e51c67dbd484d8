import { git } from '@croft/testing';
import { beforeAll, expect, it } from 'vitest';
import { recordHappenings } from './happenings.ts';
import { useKillableForge } from './killable-forge.ts';
import { stopHeader } from './steps.ts';

// Releases that make a tag, killed before the first thing they do, before the second, and so on until one comes through.

const forge = useKillableForge();
const { ada } = forge;
const at = '/repos/ada/work/releases';

beforeAll(() => recordHappenings(forge));

/** How a release comes to need its tag made. */
const SUBJECTS = {
  made: (tag: string) => ['POST', at, { tag_name: tag, tag_message: 'm' }],
  async published(tag: string) {
    const { body } = await ada.call('POST', at, { tag_name: tag, name: 'before', draft: true });
    return ['PATCH', `${at}/${body.id}`, { draft: false, name: 'after' }];
  },
  async renamed(tag: string) {
    const { body } = await ada.call('POST', at, { tag_name: `${tag}-before`, name: 'before' });
    return ['PATCH', `${at}/${body.id}`, { tag_name: tag, name: 'after' }];
  },
} satisfies Record<string, (tag: string) => unknown>;
type Asked = [method: string, path: string, body: object];

/** What rows, repository and those who were told say of a tag and its release. */
async function look(tag: string) {
  const { body, status } = await ada.call('GET', `${at}/tags/${tag}`);
  const told = await forge.sql.rows<{ what: string }>`
    select coalesce(payload->>'ref', payload->>'action') as what from :schema.told
    where payload->>'ref' = ${`refs/tags/${tag}`} or payload->>'releaseId' = ${String(body.id)} order by id`;
  return {
    status,
    draft: body['draft'],
    name: body['name'],
    tag: await git(forge.bare, 'for-each-ref', '--format=%(objecttype)', `refs/tags/${tag}`),
    told: told.map(({ what }) => what),
  };
}

it.each(Object.keys(SUBJECTS) as (keyof typeof SUBJECTS)[])(
  'killed before any step, a release is %s as a whole or not at all',
  {
    timeout: 300_000,
  },
  async (name) => {
    const steps: string[] = [];
    for (let round = 1; ; round++) {
      const tag = `${name}-${round}`;
      const [method, path, body] = (await SUBJECTS[name](tag)) as Asked;
      const before = await look(tag);
      const former = await look(`${tag}-before`);
      const stopped = forge.stopped(tag);
      const answered = ada.call(method, path, body, stopHeader(tag, steps)).then(
        ({ status }) => status,
        () => stopped,
      );
      const outcome = await Promise.race([answered, stopped]);
      await forge.kill();
      await forge.start();
      expect(await forge.sql.rows`select id from :schema.pushes`).toEqual([]);
      const after = await look(tag);
      const happened = after.tag !== '';
      const action = name === 'renamed' ? 'updated' : 'published';
      const told = [...(name === 'renamed' ? ['published'] : []), `refs/tags/${tag}`, action];
      if (happened)
        expect(after).toMatchObject({
          status: 200,
          draft: false,
          name: name === 'made' ? '' : 'after',
          told,
        });
      else expect([after, await look(`${tag}-before`)]).toEqual([before, former]);
      const counter = await forge.sql.row`
      select r.releases = (select count(*) from :schema.releases where published_at is not null) as exact
      from :schema.repositories r`;
      expect(counter).toEqual({ exact: true });
      if (typeof outcome === 'number') {
        expect([outcome, happened]).toEqual([name === 'made' ? 201 : 200, true]);
        break;
      }
      steps.push(outcome);
      // Asked for once more, it happens.
      const again = await ada.call(method, path, body);
      expect(again.status).toBe(name === 'made' ? (happened ? 409 : 201) : 200);
      expect(await look(tag)).toMatchObject({ status: 200, draft: false });
    }
    // None was passed over: what is about to happen is written down, the tag comes, and what happened is written down.
    for (const step of [/pushes/, /^start update refs\/tags/, /releases/, /^commit/])
      expect(steps).toContainEqual(expect.stringMatching(step));
  },
);
