import { git } from '@croft/testing';
import { expect } from 'vitest';
import { commit, lines, type Person, pushBranch, pushedRepository, type Reply, type Scene } from './forge.ts';

/** Somebody's repository with people around it, in which pull requests are made. */
export interface ReviewScene {
  readonly ada: Person;
  /** Reads what is public. */
  readonly bob: Person;
  readonly writer: Person;
  readonly keeper: Person;
  readonly tree: string;
  /** `/repos/ada/<name>` */
  readonly at: string;
  /** A new pull request of ada's that changes `lines.txt` in line 3 and adds `new.txt`. */
  open: (branch: string, fields?: object) => Promise<number>;
  /** Pushes another commit to its head. */
  push: (branch: string, text: string) => Promise<string>;
  review: (who: Person, number: number, body: object) => Promise<Reply>;
  /** Everything that a refused request must leave as it is. */
  stored: () => Promise<unknown>;
}

type People = Pick<ReviewScene, 'ada' | 'bob' | 'writer' | 'keeper'>;

/** Builds it, with new people unless there are some. */
export async function reviewScene(scene: Scene, name: string, known?: People): Promise<ReviewScene> {
  const people = known ?? {
    ada: scene.person('ada'),
    bob: scene.person('bob'),
    writer: scene.person('writer'),
    keeper: scene.person('keeper'),
  };
  const { ada, bob, writer, keeper } = people;
  for (const person of [ada, bob, writer, keeper]) await person.call('GET', '/user');
  const tree = await pushedRepository(ada, name, scene.folder);
  const at = `/repos/ada/${name}`;
  for (const [login, permission] of [
    ['writer', 'write'],
    ['keeper', 'admin'],
  ])
    await ada.call('PUT', `${at}/collaborators/${login}`, { permission });
  return {
    ...people,
    tree,
    at,
    async open(branch, fields = {}) {
      await pushBranch(tree, branch, {
        'lines.txt': `${lines(1, 2)}changed\n${lines(4, 20)}`,
        'new.txt': 'one\ntwo\n',
      });
      const body = { head: branch, base: 'main', title: branch, ...fields };
      const answer = await ada.call('POST', `${at}/pulls`, body);
      expect(answer.status).toBe(201);
      return answer.body.number;
    },
    async push(branch, text) {
      await git(tree, 'checkout', '-q', branch);
      const id = await commit(tree, { 'more.txt': text }, text);
      await git(tree, 'push', '-q', 'origin', branch);
      await git(tree, 'checkout', '-q', 'main');
      return id;
    },
    review: (who, number, body) => who.call('POST', `${at}/pulls/${number}/reviews`, body),
    stored: () =>
      Promise.all([
        scene.sql.rows`select * from :schema.reviews order by id`,
        scene.sql.rows`select * from :schema.review_requests order by id`,
        scene.sql.rows`select * from :schema.review_comments order by comment_id`,
        scene.sql.rows`select * from :schema.comments order by id`,
        scene.sql.rows`select id, updated_at, comments from :schema.issues order by id`,
      ]),
  };
}

/** A pull request with one hushed line, and somebody who may read pull requests there and no code. */
export async function pullWithoutCode(scene: Scene, owner: Person) {
  const paul = scene.person('paul');
  await paul.call('GET', '/user');
  await owner.call('POST', '/orgs', { username: 'guild' });
  await owner.call('POST', '/orgs/guild/repos', { name: 'half', private: true, auto_init: true });
  const units = { 'repo.pulls': 'read' };
  const team = { name: 'pullers', units_map: units, includes_all_repositories: true };
  const { id } = (await owner.call('POST', '/orgs/guild/teams', team)).body;
  await owner.call('PUT', `/teams/${id}/members/paul`);
  const at = '/repos/guild/half';
  const file = { content: Buffer.from('hush\n').toString('base64'), message: 'quiet', new_branch: 'quiet' };
  await owner.call('POST', `${at}/contents/quiet.txt`, file);
  const pull = await owner.call('POST', `${at}/pulls`, { head: 'quiet', base: 'main', title: 'Quiet' });
  const comments = [{ path: 'quiet.txt', body: 'why?', new_position: 1 }];
  return { paul, at, number: pull.body.number, comments };
}
