import type { Tx } from '@croft/sql';
import { type Caller, callerOf } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { accessTo, mayRead, mayWrite, type VisibleRepository } from '../repositories/find-repository.ts';
import { type Reference, type ReferenceAction, readReferences } from '../rules/texts/references.ts';
import * as references from '../store/issues/references.ts';
import * as users from '../store/people/users.ts';
import * as repositories from '../store/repositories/repositories.ts';

/** An issue or pull request that a text names, and what its writer may do there. */
export interface Target extends references.ReferenceTarget {
  action: ReferenceAction;
  /** Where the text stands. */
  sourceRepositoryId: number;
  /** Whether he may close it or open it again. */
  mayChange: boolean;
}

/** More other repositories than this are not looked up for one text. */
const MAX_REPOSITORIES = 10;

/** Where texts stand, as somebody sees it who wrote them, or had them become true. */
export interface Source {
  writer: Caller;
  found: VisibleRepository;
}

/** Whose texts stand where. */
export interface SourceIds {
  writerId: number;
  repositoryId: number;
}

/**
 * Those that are there, in the order of their ids. Undefined where one of them is gone, and where the writer may not know of the
 * repository: then nothing is told.
 */
export async function findSources(
  { database }: Context,
  sources: readonly SourceIds[],
): Promise<(Source | undefined)[]> {
  const tx = database.autocommit();
  const writerIds = [...new Set(sources.map(({ writerId }) => writerId))];
  const ofWriter = async (id: number): Promise<[number, repositories.RepositoryWithAccess[]]> => {
    const ids = new Set(sources.filter(({ writerId }) => writerId === id).map((each) => each.repositoryId));
    return [id, await repositories.listByIds(tx, [...ids], id)];
  };
  const [accounts, ...lists] = await Promise.all([users.mapByIds(tx, writerIds), ...writerIds.map(ofWriter)]);
  const rowsOf = new Map(lists);
  return sources.map(({ writerId, repositoryId }) => {
    const account = accounts.get(writerId);
    const writer = account && callerOf(account);
    const row = rowsOf.get(writerId)?.find(({ id }) => id === repositoryId);
    const found = row && writer && accessTo(row, writer);
    return found && { writer, found };
  });
}

/**
 * The issues and pull requests a text names and in whose timelines it is told: those its writer may read and write
 * comments on. What else there is by that name makes no difference, so nobody learns of it.
 * @param writerId who wrote the text, or had it become true
 * @param repositoryId where it stands
 */
export async function findTargets(
  context: Context,
  writerId: number,
  repositoryId: number,
  text: string,
): Promise<Target[]> {
  if (readReferences(text, context.links.root).length === 0) return [];
  const [source] = await findSources(context, [{ writerId, repositoryId }]);
  return source === undefined ? [] : await findTargetsFrom(context, source, text);
}

/** The same for a place that is known already. */
export async function findTargetsFrom(
  context: Context,
  { writer, found: source }: Source,
  text: string,
): Promise<Target[]> {
  const named = readReferences(text, context.links.root);
  if (named.length === 0) return [];
  const tx = context.database.autocommit();
  const places = await findPlaces(context, writer, source, named);
  const found = await findIssues(tx, places, ({ repository }) => repository.id, named);
  return found.flatMap(({ place, ...target }) => {
    const unit = target.is_pull ? 'pulls' : 'issues';
    if (!mayRead(place, unit)) return [];
    const isWriter = mayWrite(place, unit);
    if (target.locked && !isWriter) return [];
    const mayChange = isWriter || target.poster_id === writer.userId;
    return [{ ...target, sourceRepositoryId: source.repository.id, mayChange }];
  });
}

/**
 * What a text wants of all that it names, by their ids, whoever may know of them: for those of which was told, who are to be told
 * that it names them no more.
 */
export async function findNamed(
  { database, links }: Context,
  repositoryId: number,
  text: string,
): Promise<Map<number, ReferenceAction>> {
  const tx = database.autocommit();
  const named = readReferences(text, links.root);
  const places = new Map([[placeOf(undefined), repositoryId]]);
  for (const [place, { owner, name }] of othersOf(named)) {
    const row = await repositories.findByName(tx, owner, name, 0);
    if (row !== undefined) places.set(place, row.id);
  }
  const found = await findIssues(tx, places, (id) => id, named);
  return new Map(found.map(({ id, action }) => [id, action]));
}

/** The issues that are named in some places, with what is wanted of each. */
async function findIssues<Place>(
  tx: Tx,
  places: ReadonlyMap<string, Place>,
  idOf: (place: Place) => number,
  named: readonly Reference[],
): Promise<(references.ReferenceTarget & { place: Place; action: ReferenceAction })[]> {
  const wanted = named.flatMap(({ repository, number, action }) => {
    const place = places.get(placeOf(repository));
    return place === undefined ? [] : [{ place, repositoryId: idOf(place), number, action }];
  });
  return (await references.listTargets(tx, wanted)).flatMap((target) => {
    const matching = wanted.filter(
      ({ repositoryId, number }) => repositoryId === target.repository_id && number === target.number,
    );
    // The same issue may be named in two ways.
    const action = matching.find((one) => one.action !== 'none')?.action ?? 'none';
    return matching.slice(0, 1).map(({ place }) => ({ ...target, place, action }));
  });
}

/**
 * What is left of the wishes of a text that somebody else makes come true: in other repositories than its own, those that its
 * author may fulfil himself. Otherwise a stranger would do by what he proposes whatever those may who merge it.
 * @param targets of that text
 * @param author null is nobody: whoever wrote it is gone, or not known
 */
export async function limitToAuthor(
  context: Context,
  targets: readonly Target[],
  author: { authorId: number | null; repositoryId: number },
  text: string,
): Promise<Target[]> {
  const { authorId, repositoryId } = author;
  const isElsewhere = (target: Target) => target.action !== 'none' && target.repository_id !== repositoryId;
  if (!targets.some(isElsewhere)) return [...targets];
  const his = authorId === null ? [] : await findTargets(context, authorId, repositoryId, text);
  const changeable = new Set(his.filter(({ mayChange }) => mayChange).map(({ id }) => id));
  return targets.map((target) =>
    isElsewhere(target) && !changeable.has(target.id) ? { ...target, action: 'none' } : target,
  );
}

/** Repositories by the names in a text; those that serve only reads are left out. */
async function findPlaces(
  { database }: Context,
  writer: Caller,
  source: VisibleRepository,
  named: readonly Reference[],
): Promise<Map<string, VisibleRepository>> {
  const places = new Map<string, VisibleRepository>();
  if (!source.repository.archived) places.set(placeOf(undefined), source);
  for (const [place, { owner, name }] of othersOf(named)) {
    const row = await repositories.findByName(database.autocommit(), owner, name, writer.userId);
    const found = row && accessTo(row, writer);
    if (found !== undefined && !found.repository.archived) places.set(place, found);
  }
  return places;
}

/** The names of other repositories by place, of no more than are looked up. */
function othersOf(named: readonly Reference[]): Map<string, { owner: string; name: string }> {
  const others = named.flatMap(({ repository }) =>
    repository === undefined ? [] : [[placeOf(repository), repository] as const],
  );
  return new Map([...new Map(others)].slice(0, MAX_REPOSITORIES));
}

const placeOf = (repository: Reference['repository']) =>
  repository === undefined ? '' : `${repository.owner}/${repository.name}`.toLowerCase();
