import type { Properties } from './read-properties.ts';
import { json } from './states/save-record.ts';
import { isWithin, poolOf, type ZfsCommands } from './zfs-commands.ts';

/** Marks of ours on file systems. `docs/operations.md` explains them. */
const MARKS = [
  'croft:managed',
  'croft:making',
  'croft:moving',
  'croft:machine',
  'croft:links',
  'croft:user',
  'croft:emptying',
  'croft:prepared',
  'croft:canmount',
  'croft:retired',
  'croft:turn',
  'croft:last-used',
  'croft:last-booted-kernel',
  'croft:next',
  'croft:boot',
  'croft:imported',
  'croft:adopted',
] as const;
/** Those of ZSys that are understood. */
const ZSYS = ['bootfs', 'bootfs-datasets', 'last-used', 'last-booted-kernel'].map(
  (name) => `com.ubuntu.zsys:${name}`,
);
const NATIVE = ['type', 'guid', 'origin', 'mountpoint', 'canmount', 'mounted', 'used', 'available'];

type Mark = (typeof MARKS)[number];

/** A file system or volume of a pool. */
export interface FileSystem {
  readonly name: string;
  readonly isVolume: boolean;
  readonly guid: string;
  /** The snapshot it is a clone of; empty when it is none. */
  readonly origin: string;
  /** Where it is or would be mounted, as this host sees it; `none` or `legacy`. */
  readonly path: string;
  /** It has a mountpoint of its own and does not inherit one. */
  readonly hasOwnPath: boolean;
  /** The folder below which its pool is mounted; empty for a pool of this host. */
  readonly altroot: string;
  readonly canmount: string;
  readonly isMounted: boolean;
  /** Bytes in it and in what lies below it, and those that can still be written. */
  readonly used: number;
  readonly available: number;
  /** Marks that were set here: not inherited, and not received with a copy. */
  readonly marks: ReadonlyMap<string, string>;
}

/** All file systems and volumes of the pools that are imported, by name. */
export async function readFileSystems(zfs: ZfsCommands): Promise<readonly FileSystem[]> {
  const found = await zfs.allProperties([...NATIVE, ...MARKS, ...ZSYS]);
  const altroots = await zfs.altroots([...new Set([...found.keys()].map(poolOf))]);
  return [...found].map(([name, properties]) =>
    fileSystem(name, altroots.get(poolOf(name)) ?? '', properties),
  );
}

function fileSystem(name: string, altroot: string, properties: Properties): FileSystem {
  const valueOf = (property: string) => properties.get(property)?.value ?? '';
  const local = [...properties].filter(
    ([property, { source }]) => property.includes(':') && source === 'local',
  );
  return {
    name,
    isVolume: valueOf('type') === 'volume',
    guid: valueOf('guid'),
    origin: valueOf('origin'),
    path: valueOf('mountpoint') || 'none',
    hasOwnPath: properties.get('mountpoint')?.source === 'local',
    altroot,
    canmount: valueOf('canmount'),
    isMounted: valueOf('mounted') === 'yes',
    used: Number(valueOf('used')),
    available: Number(valueOf('available')),
    marks: new Map(local.map(([property, { value }]) => [property, value])),
  };
}

/** A mark that was set on the file system itself; empty when it was not. */
export function markOf({ marks }: FileSystem, mark: Mark | `com.ubuntu.zsys:${string}`): string {
  return marks.get(mark) ?? '';
}

/** A mark that holds JSON; undefined when it makes no sense. */
export function jsonMarkOf(system: FileSystem, mark: Mark): unknown {
  return json(markOf(system, mark));
}

/** Where it lies inside its pool's altroot, which is how `zfs set mountpoint` wants it. */
export function nativePath({ path, altroot }: Pick<FileSystem, 'path' | 'altroot'>): string {
  if (altroot === '' || !isWithin(path, altroot)) return path;
  return path.slice(altroot.length) || '/';
}

/** Machine ids in a list that is written as one word. */
export function linksOf(system: FileSystem): readonly string[] {
  return markOf(system, 'croft:links')
    .split(',')
    .filter((link) => link !== '');
}
