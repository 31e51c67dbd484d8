import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import type { Git } from '../outside/git/git.ts';
import { type ReadObject, readObject, readObjects } from '../outside/git/reading/objects.ts';
import { findEntry, listTree, type TreeEntry } from '../outside/git/reading/trees.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { findRepository } from '../repositories/find-repository.ts';
import {
  CONFIG_FILES,
  type IssueTemplate,
  isTemplateName,
  readConfig,
  readTemplate,
  TEMPLATE_FOLDERS,
} from './read-template.ts';

/** More templates or larger ones are none. */
const MAX_TEMPLATES = 50;
const MAX_BYTES = 64 * 1024;
/** Nor is what goes beyond this, of all templates together: YAML of strangers takes some ten microseconds a byte. */
const MAX_ALL_BYTES = 256 * 1024;

/** What files mean, by their ids and paths, which never changes; so many bytes of files. */
const known = new LRUCache<string, { template: IssueTemplate | undefined }>({
  maxSize: 2 * 1024 * 1024,
  sizeCalculation: () => 1,
});
const knownConfigs = new LRUCache<string, ReturnType<typeof readConfig>>({ max: 100 });

interface RepositoryPath {
  owner: string;
  repo: string;
}

/** Templates, and how many files that were meant to be some are none. */
export interface TemplateList {
  templates: IssueTemplate[];
  failed: number;
}

/** The templates of issues on the default branch, by the names of their files; what is none is left out and counted. */
export async function listTemplates(
  context: Context,
  viewer: Caller | undefined,
  path: RepositoryPath,
): Promise<TemplateList> {
  const { git } = context;
  const { repository } = await findRepository(context, viewer, path, 'code');
  const tip = await readRef(git, repository.id, branchRef(repository.default_branch));
  let failed = 0;
  for (const folder of tip === undefined ? [] : TEMPLATE_FOLDERS) {
    const entry = await findEntry(git, repository.id, `${tip}^{tree}`, folder);
    if (entry?.type !== 'tree') continue;
    const slice = { recursive: false, offset: 0, limit: MAX_TEMPLATES };
    const listed = await listTree(git, repository.id, entry.id, slice);
    const files = (listed?.entries ?? []).filter(({ type, path }) => type === 'blob' && isTemplateName(path));
    const templates = await readAll(git, repository.id, folder, files);
    failed += files.length - templates.length;
    if (templates.length > 0) return { templates, failed };
  }
  return { templates: [], failed };
}

async function readAll(
  git: Git,
  repositoryId: number,
  folder: string,
  files: readonly TreeEntry[],
): Promise<IssueTemplate[]> {
  let room = MAX_ALL_BYTES;
  const fitting = files.filter(({ size }) => {
    const fits = size <= Math.min(MAX_BYTES, room);
    if (fits) room -= size;
    return fits;
  });
  const wanted = fitting.map(({ id, path }) => ({ id, path: `${folder}/${path}` }));
  const before = wanted.map(({ id, path }) => known.get(`${id} ${path}`));
  const unread = wanted.filter((_, index) => before[index] === undefined).map(({ id }) => id);
  const objects = await readObjects(git, repositoryId, unread, 'skip');
  const read = new Map(objects.map((object, index) => [unread[index], object]));
  const templates: IssueTemplate[] = [];
  for (const [index, { id, path }] of wanted.entries()) {
    const template = before[index]?.template ?? (await parse(path, read.get(id)));
    if (template !== undefined) templates.push(template);
  }
  return templates;
}

async function parse(path: string, object: ReadObject | undefined): Promise<IssueTemplate | undefined> {
  if (object === undefined) return undefined;
  // Others have their turn between two of them.
  await setImmediate();
  const template = readTemplate(path, object.content.toString('utf8'));
  const key = `${object.id} ${path}`;
  known.set(key, { template }, { size: object.size + key.length });
  return template;
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
    const before = knownConfigs.get(entry.id);
    if (before !== undefined) return before;
    const object = await readObject(git, repository.id, entry.id);
    const config = readConfig(object?.content.toString('utf8'));
    if (object !== undefined) knownConfigs.set(entry.id, config);
    return config;
  }
  return readConfig(undefined);
}
