import { homeTaken } from '../../failures.ts';

/** Where something lies, whatever its path is: what the system calls the folders on the way to it. */
export interface Place {
  /** The folder itself; undefined when it is not there. */
  readonly self: string | undefined;
  /** Those that it lies in, or would. */
  readonly above: readonly string[];
}

/** Something that a home must not share files with. */
export interface Neighbour {
  /** For people. */
  readonly name: string;
  readonly place: Place;
  /** A home may lie in it, mounted there, but not around it. */
  readonly holdsMounts: boolean;
}

/** Paths tell less than that: links and mounts lead by other ways to the same folder. @throws ALREADY_EXISTS */
export function checkApart(path: string, home: Place, neighbours: readonly Neighbour[]): void {
  const neighbour = sharing(home, neighbours);
  if (neighbour !== undefined) throw homeTaken(path, neighbour.name);
}

/** Who has files in common with a home. */
export function sharing(home: Place, neighbours: readonly Neighbour[]): Neighbour | undefined {
  return neighbours.find(({ place, holdsMounts }) => {
    const isAround = home.self !== undefined && [place.self, ...place.above].includes(home.self);
    return isAround || (!holdsMounts && place.self !== undefined && home.above.includes(place.self));
  });
}
