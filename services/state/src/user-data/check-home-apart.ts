import type { Home, Machine, Model } from '../model/model.ts';
import { placeOf } from '../outside/folder-place.ts';
import { checkApart, type Neighbour } from '../rules/machines/apart.ts';
import { holdsPlace } from '../rules/machines/user-data.ts';

/** Looks where a path leads, so that no home gets files of another one or of the system. @throws ALREADY_EXISTS */
export async function checkHomeApart(
  { homes }: Pick<Model, 'homes'>,
  { datasets }: Machine,
  user: string,
  path: string,
): Promise<void> {
  const others = homes.filter((home) => home.user !== user && holdsPlace(home));
  // At once: those that do not answer are waited for together.
  const neighbours = await Promise.all([
    ...others.map((other) => neighbour(`the home of ${other.user}`, other.path)),
    ...datasets.map(({ name, path: at, holdsMounts = false }) =>
      neighbour(`${name} of this machine`, at, holdsMounts),
    ),
  ]);
  checkApart(path, await placeOf(path), neighbours);
}

async function neighbour(name: string, path: Home['path'], holdsMounts = false): Promise<Neighbour> {
  return { name, place: await placeOf(path), holdsMounts };
}
