import { git } from '@croft/testing';
import { beforeAll, expect } from 'vitest';
import { type ForgeUnderTest, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';

/** The commit of a ref; empty when there is none. */
export const readRef = (bare: string, ref: string) =>
  git(bare, 'rev-parse', '--verify', '--quiet', ref).catch(() => '');

/** Options of a merge queue whose merges are tested first. */
export const REQUIRED = { enable_status_check: true, status_check_contexts: ['ci'] };

/** A forge with people of whom the first makes repositories with merge queues. */
export function useMergeQueues(options: ForgeUnderTest = {}) {
  const scene = useForge(options);
  const people = {} as { ada: Person; bob: Person };
  beforeAll(async () => {
    Object.assign(people, { ada: scene.person('ada'), bob: scene.person('bob') });
    await people.bob.call('GET', '/user');
  });

  /** A repository whose main has a merge queue. */
  async function queued(name: string, options: object = {}) {
    const { ada } = people;
    const tree = await pushedRepository(ada, name, scene.folder);
    const bare = await scene.bare('ada', name);
    const at = `/repos/ada/${name}`;
    const protection = { rule_name: 'main', enable_push: true, enable_merge_queue: true, ...options };
    expect((await ada.call('POST', `${at}/branch_protections`, protection)).status).toBe(201);
    /** The merge ahead of the branch, once it is written down, which comes after its ref. */
    const madeNow = async (number: number): Promise<string | undefined> => {
      const ref = await readRef(bare, `refs/queue/main/${number}`);
      const rows = await scene.sql.rows`select from :schema.merge_queue where commit_sha = ${ref}`;
      return rows.length > 0 ? ref : undefined;
    };
    return {
      at,
      tree,
      bare,
      pull: async (branch: string, files: Record<string, string>, base = 'main') => {
        await pushBranch(tree, branch, files);
        const { body } = await ada.call('POST', `${at}/pulls`, { head: branch, base, title: branch });
        return body.number;
      },
      merge: async (number: number, body: object = {}, who = ada) =>
        await who.call('POST', `${at}/pulls/${number}/merge`, body),
      isMerged: async (number: number) =>
        (await ada.call('GET', `${at}/pulls/${number}/merge`)).status === 204,
      list: async () => (await ada.call('GET', `${at}/merge_queue/main`)).items,
      madeNow,
      /** Waits for it, or for one that is another than the other. */
      made: async (number: number, other?: string) => {
        let sha: string | undefined;
        await expect
          .poll(async () => (sha = await madeNow(number)) !== other && sha !== undefined)
          .toBe(true);
        return sha ?? '';
      },
      report: async (sha: string, state: string, context = 'ci') => {
        expect((await ada.call('POST', `${at}/statuses/${sha}`, { state, context })).status).toBe(201);
      },
      refs: async () =>
        (await git(bare, 'for-each-ref', '--format=%(refname)', 'refs/queue')).split('\n').filter(Boolean),
      timeline: async (number: number) =>
        (await ada.call('GET', `${at}/issues/${number}/timeline`)).items.map(({ type, body }) => [
          type,
          body,
        ]),
      main: () => git(bare, 'rev-parse', 'main'),
    };
  }

  return { scene, people, queued };
}
