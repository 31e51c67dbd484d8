import { git } from '@croft/testing';
import { beforeAll, expect } from 'vitest';
import { type Person, pushBranch, pushedRepository, type Reply, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

/** Pull requests that stand on each other. */
export interface Stacked {
  /** The branch that all of it goes to. */
  base: string;
  /** From bottom to top. */
  numbers: number[];
  heads: string[];
}

/** A pull request for each level, each with a file of its own. */
export const THREE = [{ one: '1\n' }, { two: '2\n' }, { three: '3\n' }];
/** Each changes what the one below brought. */
export const SAME = [{ same: '1\n' }, { same: '2\n' }, { same: '3\n' }];

/** The repository of ada, in which bob and cleo may write, and what tests of stacks do in it. */
export function useStacks() {
  const scene = useForge();
  const at = '/repos/ada/work';
  let ada: Person;
  let bob: Person;
  let cleo: Person;
  let tree: string;
  let bare: string;
  let count = 0;
  beforeAll(async () => {
    [ada, bob, cleo] = [scene.person('ada'), scene.person('bob'), scene.person('cleo')];
    tree = await pushedRepository(ada, 'work', scene.folder);
    bare = await scene.bare('ada', 'work');
    await ada.call('PATCH', at, { allow_fast_forward_only_merge: true });
    for (const person of [bob, cleo]) {
      await person.call('GET', '/user');
      await ada.call('PUT', `${at}/collaborators/${person.name}`, { permission: 'write' });
    }
  });

  /** Pull requests of bob's, each on the one before, of which each brings these files. */
  async function stacked(files: readonly Record<string, string>[]): Promise<Stacked> {
    const prefix = `s${++count}`;
    const base = `${prefix}-base`;
    await git(tree, 'fetch', '-q', 'origin');
    await git(tree, 'push', '-q', 'origin', `origin/main:refs/heads/${base}`);
    const numbers: number[] = [];
    const heads: string[] = [];
    for (const [index, brought] of files.entries()) {
      const below = index === 0 ? base : `${prefix}-${index}`;
      const head = `${prefix}-${index + 1}`;
      await git(tree, 'fetch', '-q', 'origin');
      heads.push(await pushBranch(tree, head, brought, `origin/${below}`));
      const { body } = await bob.call('POST', `${at}/pulls`, { head, base: below, title: `Add ${head}` });
      numbers.push(body.number);
    }
    return { base, numbers, heads };
  }

  const merge = (number: number, body: object = {}, who = ada): Promise<Reply> =>
    who.call('POST', `${at}/pulls/${number}/merge`, { merge_stack: true, ...body });
  const show = async (number: number) => (await ada.call('GET', `${at}/pulls/${number}`)).body;
  const top = ({ numbers }: Stacked) => numbers.at(-1) as number;
  const subjects = async (base: string, ...options: string[]) =>
    (await git(bare, 'log', '--format=%s', ...options, `main..${base}`)).split('\n');
  const stored = () =>
    Promise.all([
      git(bare, 'for-each-ref'),
      rowsOf(scene, 'issues', 'pulls', 'comments', 'merges', 'merge_queue', 'scheduled_merges'),
    ]);
  /** Somebody pushes something to a branch. */
  async function push(branch: string, files: Record<string, string>): Promise<string> {
    await git(tree, 'fetch', '-q', 'origin');
    return await pushBranch(tree, branch, files, `origin/${branch}`);
  }

  /** It is refused in these words, and nothing changes. */
  async function refused(asking: () => ReturnType<typeof merge>, status: number, message: unknown) {
    const before = await stored();
    const { status: answered, body } = await asking();
    expect([answered, body.message]).toEqual([status, message]);
    expect(await stored()).toEqual(before);
  }

  return {
    scene,
    at,
    stacked,
    merge,
    show,
    top,
    subjects,
    stored,
    push,
    refused,
    /** What is there once the tests run. */
    made: () => ({ ada, bob, cleo, tree, bare }),
    /** What the branches of the last stack begin with. */
    prefix: () => `s${count}`,
  };
}
