import { inBatches } from '@croft/sql';
import type { Context } from '../context.ts';
import { findSources, type Source, type SourceIds } from '../references/find-targets.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { presentRepositories } from '../repositories/present-repositories.ts';
import * as hooks from '../store/events/hooks.ts';
import * as issues from '../store/issues/issues.ts';
import * as users from '../store/people/users.ts';
import * as repositories from '../store/repositories/repositories.ts';

/** What the expansion of events loads: one statement of what those that are under way together ask for. */
export interface EventLoads {
  repository(id: number): Promise<repositories.RepositoryRow | undefined>;
  account(id: number): Promise<users.UserRow | undefined>;
  issue(id: number): Promise<issues.IssueWithPull | undefined>;
  /** Active hooks of a repository, its owner and the system. */
  hooks(place: { repositoryId: number; ownerId: number }): Promise<hooks.HookRow[]>;
  /** Undefined where nothing is told. */
  source(ids: SourceIds): Promise<Source | undefined>;
  /** A repository as hooks are told of it. */
  repositoryJson(found: VisibleRepository): Promise<object>;
}

/** As many ids as one statement asks for. */
const MOST = 64;

/** Loads for the events of one worker. */
export function eventLoads(context: Context): EventLoads {
  const { database } = context;
  return {
    repository: byId((ids) => repositories.mapByIds(database.reads(), ids)),
    account: byId((ids) => users.mapByIds(database.reads(), ids)),
    issue: byId((ids) => issues.mapByIds(database.reads(), ids)),
    hooks: inBatches({ most: MOST }, async (places) => {
      const rows = await hooks.listOfPlaces(database.reads(), places);
      return places.map((place) => rows.filter((hook) => belongsTo(hook, place)));
    }),
    source: inBatches({ most: MOST }, (sources) => findSources(context, sources)),
    repositoryJson: inBatches({ most: MOST }, async (all) => {
      const distinct = new Map(all.map((found) => [found.repository.id, found]));
      const presented = await presentRepositories(context, undefined, [...distinct.values()]);
      const byItsId = new Map(presented.map((json) => [json.id, json]));
      return all.map(({ repository }) => byItsId.get(repository.id) ?? missing(repository.id));
    }),
  };
}

function byId<Row>(
  load: (ids: readonly number[]) => Promise<ReadonlyMap<number, Row>>,
): (id: number) => Promise<Row | undefined> {
  return inBatches({ most: MOST }, async (ids) => {
    const rows = await load([...new Set(ids)]);
    return ids.map((id) => rows.get(id));
  });
}

function belongsTo(hook: hooks.HookRow, place: { repositoryId: number; ownerId: number }): boolean {
  if (hook.repository_id !== null) return hook.repository_id === place.repositoryId;
  return hook.owner_id === null || hook.owner_id === place.ownerId;
}

function missing(id: number): never {
  throw new Error(`repository ${id} was not presented`);
}
