import { unacceptable } from '../../failures.ts';
import { REPOSITORY_SORTS, type RepositoryFilter } from '../../repositories/repository-filter.ts';
import { readBoolean } from '../requests/read-boolean.ts';
import { readId } from '../requests/read-id.ts';

/** Parameters of a search, as they come. */
export type RepositoryQuery = Readonly<
  Partial<
    Record<
      | 'q'
      | 'topic'
      | 'includeDesc'
      | 'uid'
      | 'priority_owner_id'
      | 'team_id'
      | 'starredBy'
      | 'private'
      | 'is_private'
      | 'template'
      | 'archived'
      | 'mode'
      | 'exclusive'
      | 'sort'
      | 'order',
      string | undefined
    >
  >
>;

/** Names the reference has for an order besides ours. */
const OTHER_SORTS: ReadonlyMap<string, RepositoryFilter['sort']> = new Map([
  ['git_size', 'size'],
  ['lfs_size', 'id'],
]);

/**
 * What a search asks for. Filters that are not there do not filter; 0 is no id.
 * @throws 422 for an unknown mode, order or way to sort
 */
export function readRepositoryFilter(query: RepositoryQuery): RepositoryFilter {
  const { mode = '', sort = '', order = '' } = query;
  if (!['', 'source', 'fork', 'mirror', 'collaborative'].includes(mode)) {
    throw unacceptable(`Invalid search mode: "${mode}"`);
  }
  const by = REPOSITORY_SORTS.find((known) => known === sort) ?? OTHER_SORTS.get(sort);
  if (sort !== '' && by === undefined) throw unacceptable(`Invalid sort mode: "${sort}"`);
  if (!['', 'asc', 'desc'].includes(order)) throw unacceptable(`Invalid sort order: "${order}"`);
  const ownerId = idOf(query.uid);
  const isExclusive = readBoolean(query.exclusive) === true;
  return compact({
    keyword: (query.q ?? '').trim(),
    isTopic: readBoolean(query.topic),
    inDescription: readBoolean(query.includeDesc),
    ownerId,
    reach: mode === 'collaborative' ? 'given' : isExclusive ? 'owned' : 'both',
    firstOwnerId: idOf(query.priority_owner_id),
    teamId: idOf(query.team_id),
    starredBy: idOf(query.starredBy),
    // `private=false` leaves private ones out, true lets them in.
    isPrivate: readBoolean(query.is_private) ?? (readBoolean(query.private) === false ? false : undefined),
    isTemplate: readBoolean(query.template),
    isArchived: readBoolean(query.archived),
    isFork: mode === 'fork' ? true : mode === 'source' ? false : undefined,
    // Nothing here mirrors another place.
    forkOf: mode === 'mirror' ? -1 : undefined,
    sort: by ?? 'alpha',
    descending: order === 'desc' && by !== undefined,
  });
}

const idOf = (text: string | undefined) => readId(text ?? '') || undefined;

type Loose<T> = { [K in keyof T]: T[K] | undefined };

function compact(filter: Loose<Required<RepositoryFilter>>): RepositoryFilter {
  return Object.fromEntries(
    Object.entries(filter).filter(([, value]) => value !== undefined),
  ) as unknown as RepositoryFilter;
}
