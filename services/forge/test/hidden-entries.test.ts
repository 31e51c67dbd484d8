import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let ada: Person; // owns tools and secret
let wim: Person; // writes to tools
let rob: Person; // reads tools
beforeAll(async () => {
  [ada, wim, rob] = ['ada', 'wim', 'rob'].map((name) => scene.person(name)) as [Person, Person, Person];
  for (const person of [wim, rob]) await person.call('GET', '/user');
  await ada.call('POST', '/user/repos', { name: 'tools' });
  await ada.call('POST', '/user/repos', { name: 'secret', private: true });
  await ada.call('PUT', '/repos/ada/tools/collaborators/wim', { permission: 'write' });
  await ada.call('POST', '/repos/ada/tools/issues', { title: 'Named' });
  await ada.call('POST', '/repos/ada/secret/issues', { title: 'Names it' });
});

const MISSING = 987_654_321;
const entries = '/repos/ada/tools/issues/comments';
const stored = () => rowsOf(scene, 'issues', 'comments', 'reactions', 'attachments');

/** An entry of the public issue that comes from the private repository, as it is stored. */
async function tell(kind: string, posterOf: Person): Promise<number> {
  const { id: posterId } = (await posterOf.call('GET', '/user')).body;
  const { id: named } = (await ada.call('GET', '/repos/ada/tools/issues/1')).body;
  const { id: source } = (await ada.call('GET', '/repos/ada/secret/issues/1')).body;
  const { id: secret } = (await ada.call('GET', '/repos/ada/secret')).body;
  const details = {
    add_dependency: { dependent_issue: source },
    commit_ref: { ref_key: `commit:${posterId}`, ref_repository_id: secret, ref_commit: 'a'.repeat(40) },
  }[kind] ?? { ref_key: `${kind}:${posterId}`, ref_repository_id: secret, ref_issue_id: source };
  const row = await scene.sql.row<{ id: number }>`
    insert into :schema.comments (issue_id, kind, poster_id, body, details, created_at, updated_at)
    values (${named}, ${kind}, ${posterId}, '', ${JSON.stringify(details)}, now(), now()) returning id`;
  return row?.id ?? 0;
}

describe.each(['add_dependency', 'issue_ref', 'pull_ref', 'comment_ref', 'commit_ref'])(
  'an entry %s from what somebody may not read',
  (kind) => {
    it('answers him by its id as one that is not there, whoever wrote it', async () => {
      for (const poster of [ada, wim, rob]) {
        const id = await tell(kind, poster);
        for (const who of [wim, rob]) {
          for (const [method, rest, body] of [
            ['GET', '', undefined],
            ['PATCH', '', { body: 'x' }],
            ['DELETE', '', undefined],
            ['GET', '/reactions', undefined],
            ['POST', '/reactions', { content: '+1' }],
            ['GET', '/assets', undefined],
            ['GET', '/assets/1', undefined],
            ['PATCH', '/assets/1', { name: 'x.txt' }],
            ['DELETE', '/assets/1', undefined],
          ] as const) {
            const before = await stored();
            const hidden = await who.call(method, `${entries}/${id}${rest}`, body);
            const missing = await who.call(method, `${entries}/${MISSING}${rest}`, body);
            expect([method, rest, hidden.status, hidden.text]).toEqual([method, rest, 404, missing.text]);
            expect(await stored()).toEqual(before);
          }
        }
        for (const method of ['GET', 'DELETE'])
          expect((await ada.call(method, `${entries}/${id}`)).status).toBe(204);
        expect((await ada.call('PATCH', `${entries}/${id}`, { body: 'x' })).status).toBe(204);
        const told = (await ada.call('GET', '/repos/ada/tools/issues/1/timeline?limit=50')).items;
        expect(told.map((one) => one['id'])).toContain(id);
        await scene.sql.run`delete from :schema.comments where id = ${id}`;
      }
      const seen = await rob.call('GET', '/repos/ada/tools/issues/1/timeline');
      expect([seen.items, seen.headers.get('x-total-count')]).toEqual([[], '0']);
    });
  },
);
