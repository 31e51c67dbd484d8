import { beforeAll, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';

// Where labels are given, a keyword that finds nothing the caller may read is no filter.

const scene = useForge();
const at = '/repos/guild/workshop';
let ada: Person;
let bob: Person;
const ask = (path: string, who: Person) => who.call('GET', path);
beforeAll(async () => {
  [ada, bob] = [scene.person('ada'), scene.person('bob')];
  await bob.call('GET', '/user');
  await ada.call('POST', '/orgs', { username: 'guild', visibility: 'private' });
  await ada.call('POST', '/orgs/guild/repos', { name: 'workshop', private: true, auto_init: true });
  const team = await ada.call('POST', '/orgs/guild/teams', {
    name: 'triage',
    permission: 'read',
    includes_all_repositories: true,
    units: ['repo.issues'],
    units_map: { 'repo.issues': 'read' },
  });
  await ada.call('PUT', `/teams/${team.body.id}/members/bob`);
  const bug = (await ada.call('POST', `${at}/labels`, { name: 'tricky', color: 'ff0000' })).body.id;
  await ada.call('POST', `${at}/issues`, { title: 'plain', labels: [bug] });
});

it('attack: does not tell whether a word is in pull requests the caller may not read', async () => {
  const file = { content: 'eA==', new_branch: 'topic', message: 'x' };
  expect((await ada.call('POST', `${at}/contents/x.txt`, file)).status).toBe(201);
  const pull = { head: 'topic', base: 'main', title: 'hidden', body: 'made of mithril' };
  expect((await ada.call('POST', `${at}/pulls`, pull)).status).toBe(201);
  const titles = async (path: string, who: Person) => (await ask(path, who)).items.map(({ title }) => title);
  for (const base of [`${at}/issues`, '/repos/issues/search']) {
    expect(await titles(`${base}?q=mithril`, ada)).toEqual(['hidden']);
    expect(await titles(`${base}?labels=tricky&q=mithril`, ada)).toEqual([]);
    for (const word of ['mithril', 'unobtainium']) {
      expect([word, await titles(`${base}?labels=tricky&q=${word}`, bob)]).toEqual([word, ['plain']]);
      expect([word, await titles(`${base}?q=${word}`, bob)]).toEqual([word, []]);
    }
  }
});

it('finds nothing in what was deleted, so that the labels filter alone', async () => {
  const { body } = await ada.call('POST', `${at}/issues`, { title: 'gone', body: 'of adamant' });
  await ada.call('POST', `${at}/issues/${body.number}/comments`, { body: 'orichalcum' });
  const path = (word: string) => `${at}/issues?labels=tricky&q=${word}`;
  expect((await ask(path('adamant'), ada)).items).toEqual([]);
  expect((await ada.call('DELETE', `${at}/issues/${body.number}`)).status).toBe(204);
  for (const word of ['adamant', 'orichalcum'])
    expect((await ask(path(word), ada)).items.map(({ title }) => title)).toEqual(['plain']);
});
