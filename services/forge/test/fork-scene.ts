import { join } from 'node:path';
import { git } from '@croft/testing';
import { type Person, pushedRepository, type Scene } from './forge.ts';

/** `ada/work`, and `bob/bobs`, which is its fork. */
export interface ForkScene {
  readonly ada: Person;
  readonly bob: Person;
  /** Reads what is public. */
  readonly eve: Person;
  /** Work trees of the original and of the fork. */
  readonly tree: string;
  readonly forked: string;
  /** Both in the forge. */
  readonly bare: string;
  readonly bobs: string;
}

/** Builds it. */
export async function forkScene(scene: Scene): Promise<ForkScene> {
  const [ada, bob, eve] = [scene.person('ada'), scene.person('bob'), scene.person('eve')];
  for (const person of [ada, bob, eve]) await person.call('GET', '/user');
  const tree = await pushedRepository(ada, 'work', scene.folder);
  await bob.call('POST', '/repos/ada/work/forks', { name: 'bobs' });
  const forked = join(scene.folder, 'bobs');
  await git(scene.folder, 'clone', '-q', bob.remote('bob/bobs'), forked);
  const [bare, bobs] = [await scene.bare('ada', 'work'), await scene.bare('bob', 'bobs')];
  return { ada, bob, eve, tree, forked, bare, bobs };
}
