import { homeRefused } from '../failures.ts';
import type { Home, Machine, Model } from '../model/model.ts';
import { placeOf } from '../outside/folder-place.ts';
import { checkApart, type Neighbour, sharing } from '../rules/machines/apart.ts';
import { holdsPlace } from '../rules/machines/user-data.ts';
import { INSTEAD_OF_MOVING } from './check-home-owned.ts';

/** Looks where a path leads, so that no home gets files of another one or of the system. @throws ALREADY_EXISTS */
export async function checkHomeApart(
  { homes }: Pick<Model, 'homes'>,
  { datasets }: Machine,
  user: string,
  path: string,
): Promise<void> {
  // At once: those that do not answer are waited for together.
  const neighbours = await Promise.all([
    ...othersAmong(homes, user),
    ...datasets.map(({ name, path: at, holdsMounts = false }) =>
      neighbour(`${name} of this machine`, at, holdsMounts),
    ),
  ]);
  checkApart(path, await placeOf(path), neighbours);
}

/**
 * Looks where the path of a home leads by now: while it belonged to no machine another user may have come there by another path.
 * @throws FAILED_PRECONDITION
 */
export async function checkStillHis(
  { homes }: Pick<Model, 'homes'>,
  { user, path, datasets }: Home,
): Promise<void> {
  if (datasets !== undefined) return;
  const other = sharing(await placeOf(path), await Promise.all(othersAmong(homes, user)));
  if (other !== undefined) throw homeRefused(path, `${other.name} is there by now: ${INSTEAD_OF_MOVING}`);
}

function othersAmong(homes: readonly Home[], user: string): readonly Promise<Neighbour>[] {
  return homes
    .filter((home) => home.user !== user && holdsPlace(home))
    .map((other) => neighbour(`the home of ${other.user}`, other.path));
}

async function neighbour(name: string, path: Home['path'], holdsMounts = false): Promise<Neighbour> {
  return { name, place: await placeOf(path), holdsMounts };
}
