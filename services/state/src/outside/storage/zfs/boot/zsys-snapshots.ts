import { type FileSystem, nativePath } from '../filesystem.ts';
import type { Properties } from '../read-properties.ts';
import { isOurs, type SavedDataset } from '../states/save-record.ts';
import type { Tree } from '../tree.ts';
import type { ZfsCommands } from '../zfs-commands.ts';

const PREFIX = 'com.ubuntu.zsys:';
const MOUNTPOINT = `${PREFIX}mountpoint`;
const CANMOUNT = `${PREFIX}canmount`;
const MARKS = [MOUNTPOINT, CANMOUNT, `${PREFIX}bootfs-datasets`, `${PREFIX}last-booted-kernel`];
const ASKED = ['guid', 'createtxg', 'creation', 'referenced', ...MARKS];
/** ZSys gives no other names; what has one is not its own. */
const GIVEN = /^[A-Za-z0-9._:-]+$/;

/** Snapshots that ZSys took, by their names. */
export type ZsysSnapshots = ReadonlyMap<string, Properties>;

/** Of some trees what ZSys says is its own. */
export async function readZsysSnapshots(trees: readonly Tree[], zfs: ZfsCommands): Promise<ZsysSnapshots> {
  const roots = [...new Set(trees.map(({ root }) => root.name))];
  const names = (await zfs.snapshotsOf(roots)).filter((name) => !isOurs(name) && GIVEN.test(endOf(name)));
  const read = async (some: readonly string[]) =>
    [...(await zfs.properties(some, ASKED))].filter(([, each]) => isOfZsys(each));
  const found = new Map(await read(names));
  const below = trees.flatMap(({ root, datasets }) =>
    [...found.keys()]
      .filter((name) => name.startsWith(`${root.name}@`))
      .flatMap((name) => datasets.filter((one) => one !== root).map((one) => `${one.name}@${endOf(name)}`)),
  );
  return new Map([...found, ...(await read(below))]);
}

/** It notes of every dataset where it was mounted and whether; what makes no sense there could not be gone back to. */
function isOfZsys(properties: Properties): boolean {
  return (
    /^(?:\/|none$|legacy$)/.test(notedOf(properties, 'mountpoint').value) &&
    /^(?:on|off|noauto)$/.test(notedOf(properties, 'canmount').value)
  );
}

/** What ZSys noted of a property of the dataset: its value, and where that came from. Empty when it did not. */
export function notedOf(
  properties: Properties | undefined,
  name: 'mountpoint' | 'canmount' | 'bootfs-datasets' | 'last-booted-kernel',
): { value: string; source: string } {
  const property = properties?.get(PREFIX + name);
  const text = property?.source === 'local' ? property.value : '';
  const at = text.lastIndexOf(':');
  return at < 0 ? { value: text, source: '' } : { value: text.slice(0, at), source: text.slice(at + 1) };
}

/** Where the dataset lay: as this host sees it, and as it was told where it did not inherit that. */
export function placeOf(
  { altroot }: FileSystem,
  properties: Properties | undefined,
): Pick<SavedDataset, 'path' | 'mountpoint'> {
  const { value, source } = notedOf(properties, 'mountpoint');
  const native = nativePath({ path: value, altroot });
  const path = native.startsWith('/') ? `${altroot}${native}`.replace(/(.)\/$/, '$1') : native;
  return { path, ...(source === 'local' ? { mountpoint: native } : {}) };
}

/** The name of a snapshot after `@`, which those of one save have in common. */
export function endOf(snapshot: string): string {
  return snapshot.slice(snapshot.indexOf('@') + 1);
}
