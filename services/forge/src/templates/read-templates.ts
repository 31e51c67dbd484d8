import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { readObject, readObjects } from '../outside/git/reading/objects.ts';
import { findEntry, listTree } from '../outside/git/reading/trees.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { findRepository } from '../repositories/find-repository.ts';
import {
  CONFIG_FILES,
  type IssueTemplate,
  readConfig,
  readTemplate,
  TEMPLATE_FOLDERS,
} from './read-template.ts';

/** More templates or larger ones are none. */
const MAX_TEMPLATES = 50;
const MAX_BYTES = 64 * 1024;

interface RepositoryPath {
  owner: string;
  repo: string;
}

/** The templates of issues on the default branch, by the names of their files; what is none is left out. */
export async function listTemplates(
  context: Context,
  viewer: Caller | undefined,
  path: RepositoryPath,
): Promise<IssueTemplate[]> {
  const { git } = context;
  const { repository } = await findRepository(context, viewer, path, 'code');
  const tip = await readRef(git, repository.id, branchRef(repository.default_branch));
  if (tip === undefined) return [];
  for (const folder of TEMPLATE_FOLDERS) {
    const entry = await findEntry(git, repository.id, `${tip}^{tree}`, folder);
    if (entry?.type !== 'tree') continue;
    const slice = { recursive: false, offset: 0, limit: MAX_TEMPLATES };
    const listed = await listTree(git, repository.id, entry.id, slice);
    const files = (listed?.entries ?? []).filter(({ type, size }) => type === 'blob' && size <= MAX_BYTES);
    const ids = files.map(({ id }) => id);
    const objects = await readObjects(git, repository.id, ids, 'skip');
    const templates = objects.flatMap((object, index) => {
      const name = files[index]?.path ?? '';
      const template = object && readTemplate(`${folder}/${name}`, object.content.toString('utf8'));
      return template === undefined ? [] : [template];
    });
    if (templates.length > 0) return templates;
  }
  return [];
}

/** How issues are to be opened, as the default branch says, and what is wrong with what it says. */
export async function showConfig(
  context: Context,
  viewer: Caller | undefined,
  path: RepositoryPath,
): Promise<ReturnType<typeof readConfig>> {
  const { git } = context;
  const { repository } = await findRepository(context, viewer, path, 'code');
  const tip = await readRef(git, repository.id, branchRef(repository.default_branch));
  if (tip === undefined) return readConfig(undefined);
  for (const file of CONFIG_FILES) {
    const entry = await findEntry(git, repository.id, `${tip}^{tree}`, file);
    if (entry?.type !== 'blob') continue;
    if (entry.size > MAX_BYTES) return { ...readConfig(undefined), problem: 'the file is too large' };
    const object = await readObject(git, repository.id, entry.id);
    return readConfig(object?.content.toString('utf8'));
  }
  return readConfig(undefined);
}
