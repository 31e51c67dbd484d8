import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { FileSystem } from '../filesystem.ts';
import { layoutOf } from '../layout.ts';
import { ZfsCommands } from '../zfs-commands.ts';
import { chunksOf, snapshotName } from './save-record.ts';
import { scanStates } from './scan-states.ts';

const [USERS, SAVES, MIB] = [60, 60, 1024 * 1024];
const MACHINE = 'pool/ROOT/debian';
const users = Array.from({ length: USERS }, (_, at) => `user${at}`);
const roots = [MACHINE, ...users.map((user) => `pool/USERDATA/${user}_abc123`)];

const fileSystem = (name: string, path: string, marks: Record<string, string>): FileSystem => ({
  name,
  isVolume: false,
  guid: '1',
  origin: '',
  path,
  hasOwnPath: true,
  altroot: '',
  canmount: 'on',
  isMounted: true,
  used: 1,
  available: 1,
  marks: new Map(Object.entries(marks)),
});

/** Bytes; long texts that a program wrote lie outside of the heap. */
function memory(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** A save of the machine with all homes, as the properties of each of its snapshots tell it. */
function saved(save: number) {
  const id = `${String(save).padStart(8, '0')}-0000-4000-8000-000000000000`;
  const who = roots.map((root, at) => ({
    role: at === 0 ? 'system' : 'user',
    ...(at === 0 ? {} : { user: users[at - 1] }),
    root,
  }));
  const guidOf = (at: number) => `9${save * 1000 + at}`;
  const outline = {
    version: 1,
    id,
    trees: who,
    datasets: roots.map((_, tree) => ({ tree, below: '', path: `/home/${tree}`, canmount: 'on' })),
  };
  const completion = {
    version: 1,
    states: who.map(({ role, user }, at) => ({
      id: at === 0 ? id : id.replace('-0000-', `-${String(at).padStart(4, '0')}-`),
      kind: role,
      name: `save${save}`,
      machine: MACHINE,
      createdAt: new Date(save * 1000).toISOString(),
      ...(user === undefined ? {} : { user }),
    })),
    snapshots: roots.map((dataset, at) => ({ dataset, guid: `${guidOf(at)}.${save}`, bytes: 1 })),
  };
  const marks = new Map([
    ...(chunksOf('croft:state', outline) ?? []),
    ...(chunksOf('croft:complete', completion) ?? []),
  ]);
  return { end: snapshotName(id, `save${save}`), marks, guidOf };
}

it('a scan holds what saves tell once, and not once for each of their homes', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const saves = Array.from({ length: SAVES }, (_, save) => saved(save));
  const lines = (name: string, asked: readonly string[]) => {
    const [dataset = '', end] = name.split('@');
    const { marks, guidOf } = saves.find((save) => save.end === end) as (typeof saves)[number];
    const own = new Map([
      ['guid', guidOf(roots.indexOf(dataset))],
      ['createtxg', `${saves.findIndex((save) => save.end === end)}`],
    ]);
    return asked.map((property) => {
      const mark = marks.get(property);
      return `${name}\t${property}\t${mark ?? own.get(property) ?? '-'}\t${mark === undefined ? '-' : 'local'}\n`;
    });
  };
  let held = 0;
  let read = 0;
  const zfs = new ZfsCommands(
    async (_, args) => {
      collect();
      held = Math.max(held, memory());
      const stdout =
        args[0] === 'list'
          ? roots.flatMap((root) => saves.map(({ end }) => `${root}@${end}\n`)).join('')
          : args
              .slice(6)
              .flatMap((name) => lines(name, args[5]?.split(',') ?? []))
              .join('');
      read += stdout.length;
      // As a program writes it: nothing that the test has.
      return { ok: true, stdout: Buffer.from(stdout).toString(), stderr: '', why: '' };
    },
    { timeoutMs: 1000, pools: [] },
  );
  const systems = roots.map((root, at) =>
    at === 0
      ? fileSystem(root, '/', { 'croft:managed': 'yes' })
      : fileSystem(root, `/home/${at}`, { 'croft:links': MACHINE, 'croft:user': `user${at - 1}` }),
  );
  const layout = layoutOf(systems, { dataset: MACHINE, snapshot: '', bootId: 'boot' });
  collect();
  const before = memory();
  const { states, leftovers, kept } = await scanStates(layout, zfs);
  expect([states.length, leftovers, kept]).toEqual([SAVES * (USERS + 1), [], []]);
  expect(states.every(({ members }) => members.length === 1 && members[0]?.unreadable === 0)).toBe(true);
  expect(states[0]).toMatchObject({ name: `save${SAVES - 1}`, members: [{ dataset: MACHINE }] });
  // Of some 80 MiB that are read one answer and some records may be there; before, it was all of them.
  expect(read).toBeGreaterThan(60 * MIB);
  expect(held - before).toBeLessThan(45 * MIB);
});
