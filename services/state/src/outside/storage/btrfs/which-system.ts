import { StartError } from '@croft/runtime';
import { isBelow, type Mount, mountOf } from '../../mounts.ts';
import { readRecords } from '../vault/records.ts';
import { BOOT, RECORDS, STATES } from './layout.ts';
import { SwitchFile } from './switch-file.ts';

/** A file system whose layout this driver does not know; nobody asked for it by name. */
export class UnusableLayout extends StartError {}

/** How machines are called. */
const MACHINE = 'btrfs:';
/** What distributions call it. */
const USUAL = '@';

export const machineId = (system: string): string => `${MACHINE}${system}`;

/**
 * The subvolume that is the machine's system: the one it runs from, or was booted for. Where the machine runs from elsewhere, what was
 * configured is taken, because it is a rescue or a test.
 * @param root where the top level is mounted
 * @param configured from the top level on; undefined when the operator named none
 * @throws StartError when another system runs than the configured one: its states would be taken for those of this machine
 */
export async function whichSystem(
  root: string,
  mounts: readonly Mount[],
  configured: string | undefined,
): Promise<string> {
  const running = mountOf(mounts, '/');
  if (running === undefined || running.device !== mountOf(mounts, root)?.device) return configured ?? USUAL;
  const path = running.root.slice(1);
  const own = isBelow(path, STATES) ? await bootedFor(root, path) : path;
  if (configured !== undefined && own !== undefined && configured !== own)
    throw new StartError(
      `STATESVC_BTRFS_SYSTEM=${configured}: this machine runs from the subvolume ${own === '' ? 'that is the top level' : own}. Leave it out, or name that one.`,
    );
  if (configured !== undefined) return configured;
  if (own === undefined)
    throw new UnusableLayout(
      `STATESVC_STORAGE=btrfs: this machine runs from ${path}, and it is not known of which system that is a copy. Name it in STATESVC_BTRFS_SYSTEM.`,
    );
  if (own === '')
    throw new UnusableLayout(
      'STATESVC_STORAGE=btrfs: this machine runs from the top level of its file system, and only a subvolume below it can be replaced. Use STATESVC_STORAGE=vault.',
    );
  return own;
}

/** Of what a subvolume in our folder is a copy, or what it was before it was replaced. */
async function bootedFor(root: string, path: string): Promise<string | undefined> {
  const last = await new SwitchFile(`${root}/${STATES}`).read();
  const replaced = last?.replacements.find(({ work }) => work === path);
  if (replaced !== undefined) return replaced.live;
  const states = await readRecords(`${root}/${RECORDS}`);
  // What was written to and put aside has more in its name.
  const state = states.find(({ id }) => path.startsWith(`${BOOT}/${id}`));
  return state?.machine.startsWith(MACHINE) ? state.machine.slice(MACHINE.length) : undefined;
}
