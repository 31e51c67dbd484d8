import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { silentLog } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { startState, stateSettings } from '@croft/state';
import { runStateCommand } from '@croft/state/client';
import { type Figure, median } from './figure.ts';

const FOLDERS = 100;
const FILES_PER_FOLDER = 100;
const CHANGED = 100;
const ROUNDS = 5;
/** What design and issue promise for an unchanged tree of this size. */
const LIMIT_MS = 400;
const REVERT_LIMIT_MS = 1000;

/**
 * Saving a tree of 10,000 files through the client and the daemon, against `cp -a` of the same tree in the same run.
 * A ratio of 2 means that saving takes half the time of copying.
 */
export async function* figures(): AsyncGenerator<Figure> {
  const place = await mkdtemp(join(tmpdir(), 'croft-bench-state-'));
  const tree = join(place, 'tree');
  await makeTree(tree);
  try {
    await using daemon = await startDaemon(place);
    const { socket } = daemon;
    // Files as young as a save are hashed again by the next one; nobody's system is a second old.
    await sleep(200);
    const first = await save(socket);
    const copies: number[] = [];
    const unchanged: number[] = [];
    const changed: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      copies.push(await copy(tree, join(place, 'copy')));
      unchanged.push(await save(socket));
      await changeTree(tree, round);
      await sleep(200);
      changed.push(await save(socket));
    }
    yield against(
      median(copies),
      'save of an unchanged tree of 10,000 files, cp -a',
      median(unchanged),
      '≥ 1',
    );
    yield against(LIMIT_MS, 'save of an unchanged tree of 10,000 files, 0.4 s', median(unchanged), '≥ 1');
    yield against(median(copies), `save with ${CHANGED} of 10,000 files changed, cp -a`, median(changed));
    yield against(median(copies), 'first save of 10,000 files, every object durable, cp -a', first);
    const id = await idOf(socket, 'to-go-back-to');
    await changeTree(tree, ROUNDS + 1);
    await sleep(200);
    await daemon[Symbol.asyncDispose]();
    yield* revert(place, id);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** Going back to a state when a hundred files have changed since; what is there before is saved first. */
async function* revert(place: string, id: string): AsyncGenerator<Figure> {
  await writeFile(join(place, 'cmdline'), `statesvc.state=${id}\n`);
  await using daemon = await startDaemon(place);
  const took = await timed(() => run(daemon.socket, ['prepare-boot']));
  yield against(REVERT_LIMIT_MS, `going back with ${CHANGED} of 10,000 files changed, 1 s`, took, '≥ 1');
}

interface Daemon extends AsyncDisposable {
  readonly socket: string;
}

async function startDaemon(place: string): Promise<Daemon> {
  const settings = readSettings(stateSettings, {
    STATESVC_VAULT_SYSTEM: join(place, 'tree'),
    STATESVC_MIN_FREE: '0',
    STATESVC_CMDLINE_FILE: join(place, 'cmdline'),
    STATESVC_BOOT_LOADER: 'none',
  });
  const folder = join(place, 'state');
  const service = await startState({ settings, folder, log: silentLog, version: 'bench' });
  return {
    socket: service.address.replace('unix:', ''),
    [Symbol.asyncDispose]: () => service.close(0),
  };
}

function against(theirs: number, figure: string, ours: number, limit?: string): Figure {
  const measured = { bench: 'state', figure, ratio: theirs / ours, ours, theirs, unit: 'ms' };
  return limit === undefined ? measured : { ...measured, limit };
}

async function makeTree(tree: string): Promise<void> {
  for (let folder = 0; folder < FOLDERS; folder++) {
    await mkdir(folderOf(tree, folder), { recursive: true });
    for (let file = 0; file < FILES_PER_FOLDER; file++)
      await writeFile(fileOf(tree, folder, file), content(file));
  }
}

/** Other files each time, spread over the tree. */
async function changeTree(tree: string, round: number): Promise<void> {
  for (let folder = 0; folder < CHANGED; folder++)
    await writeFile(fileOf(tree, folder, round), content(folder));
}

function folderOf(tree: string, folder: number): string {
  return join(tree, `d${folder % 10}`, `e${folder}`);
}

function fileOf(tree: string, folder: number, file: number): string {
  return join(folderOf(tree, folder), `file-${file}.conf`);
}

/** 1 to 40 KB, no two alike. */
function content(seed: number): Buffer {
  return randomBytes(1000 + ((seed * 397) % 40_000));
}

async function copy(tree: string, target: string): Promise<number> {
  await rm(target, { recursive: true, force: true });
  return timed(() => promisify(execFile)('cp', ['-a', tree, target]));
}

async function save(socket: string): Promise<number> {
  return timed(() => run(socket, ['save']));
}

/** Saves under a name. @returns the state's id */
async function idOf(socket: string, name: string): Promise<string> {
  await run(socket, ['save', name]);
  const [machine] = JSON.parse(await run(socket, ['dump'])).machines as {
    states: { id: string; name: string }[];
  }[];
  return machine?.states.find((state) => state.name === name)?.id ?? '';
}

async function run(socket: string, command: readonly string[]): Promise<string> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await runStateCommand(command, { socket, stdout, stderr });
  if (code !== 0) throw new Error(`${command.join(' ')} failed: ${String(stderr.read())}`);
  return String(stdout.read() ?? '');
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
