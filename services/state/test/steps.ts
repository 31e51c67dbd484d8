import { ChildProcess } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { type FileHandle, open as openHandle } from 'node:fs/promises';
import { createRequire, syncBuiltinESMExports } from 'node:module';

// Stops a daemon before a thing it does that the next one could see, or makes that thing fail: every call that writes to a file
// system, and every program that is run. So the list of steps is what the daemon really does, and none can be forgotten. A
// daemon is told by its folder, whose name is in every path, or its pool of that name; several run in one process and die together.

/**
 * What becomes of the first step that is not among those passing: nothing ever again, a failure, or a failure although it was
 * done, which only programs tell.
 */
export type Ending = 'stop' | 'fail' | 'lie';

interface Watch {
  readonly mode: Ending;
  readonly passing: ReadonlySet<string>;
  /** Steps that are tried elsewhere. */
  readonly beside: RegExp | undefined;
  /** How often it did what. */
  readonly done: Map<string, number>;
  ended: boolean;
}

/** Told when a step was stopped or made to fail. */
type Told = (name: string, step: string) => void;

const watches = new Map<string, Watch>();
let told: Told = () => {};

/**
 * From now on the daemon whose folder has this name goes on only through the steps that are passing.
 * @param beside steps that are none here, as they are tried elsewhere
 */
export function watch(name: string, mode: Watch['mode'], passing: readonly string[], beside?: RegExp): void {
  watches.set(name, { mode, passing: new Set(passing), beside, done: new Map(), ended: false });
}

/** The daemon goes on as ever; one that was stopped stays dead. */
export function unwatch(name: string): void {
  watches.delete(name);
}

type Method = (...args: unknown[]) => unknown;
type Owner = Record<string, Method>;

/** The system's calls that change something, by what holds them. */
const PROMISES = [
  'appendFile',
  'chmod',
  'copyFile',
  'lchown',
  'link',
  'lutimes',
  'mkdir',
  'rename',
  'rm',
  'rmdir',
  'symlink',
  'truncate',
  'unlink',
  'utimes',
  'writeFile',
];
/** They name two places. */
const BESIDE = new Set(['copyFile', 'link', 'rename', 'symlink']);
const CALLBACKS = ['fchmod', 'fchown', 'fdatasync', 'fsync', 'ftruncate', 'futimes', 'open', 'write'];
const HANDLE = ['appendFile', 'datasync', 'sync', 'truncate', 'write', 'writeFile'];
/** What is done to a file after it was opened. */
const OF_OPEN_FILE = new Set(['fchmod', 'fchown', 'futimes', 'write']);
/** They leave nothing that a process killed right after would not have left. */
const SYNCS = new Set(['fdatasync', 'fsync', 'datasync', 'sync']);
/** Programs that only look. */
const LOOKS = /^spawn (btrfs → subvolume → (list|show|get-default)|zfs → (get|list)|zpool → (get|list)) /;

/** A helper that stays, and what a call of it that failed gives. */
interface Calls {
  readonly owner: object;
  readonly name: string;
  readonly failed: object;
}

/** Calls of a helper that stays are programs as well, though none is started for them. */
export function interceptCalls({ owner, name, failed }: Calls): void {
  const textsOf = ([call, args]: unknown[]) => [String(call), ...(args as string[])];
  intercept(owner as Owner, name, textsOf, async (mode, _name, _args, go) => {
    if (mode === 'stop') return await never();
    if (mode === 'lie') await go();
    return failed;
  });
}

/** Puts itself between the program and the system. Before anything of the program is loaded, which may keep what it imports. */
export async function interceptSteps(tell: Told): Promise<void> {
  told = tell;
  const require = createRequire(import.meta.url);
  const fs = require('node:fs') as { promises: Owner } & Owner;
  for (const name of PROMISES)
    intercept(
      fs.promises,
      name,
      (args) => args.slice(0, BESIDE.has(name) ? 2 : 1).flatMap(textOf),
      asPromise,
    );
  for (const name of CALLBACKS)
    intercept(fs as Owner, name, (args) => textsOfCallback(name, args), asCallback);
  const handle = await openHandle('/dev/null');
  const prototype = Object.getPrototypeOf(handle) as Owner;
  await handle.close();
  for (const name of HANDLE)
    intercept(prototype, name, (_args, self) => [pathOf((self as FileHandle).fd)], asPromise);
  intercept(ChildProcess.prototype as unknown as Owner, 'spawn', programOf, asProgram);
  syncBuiltinESMExports();
}

/** Who waits for what never ends. If they were collected, Node would close the files they have open, and warn, before the kill. */
const kept: unknown[] = [];
const never = () => new Promise((resolve) => kept.push(resolve));

/** What a call that does not happen does instead. */
type Instead = (mode: Watch['mode'], name: string, args: unknown[], go: () => unknown) => unknown;

function intercept(
  owner: Owner,
  name: string,
  textsOf: (args: unknown[], self: unknown) => string[] | undefined,
  instead: Instead,
): void {
  const original = owner[name] as Method;
  const replacement = function (this: unknown, ...args: unknown[]) {
    const go = () => original.apply(this, args);
    const ending = endingOf(name, textsOf(args, this));
    return ending === undefined ? go() : instead(ending, name, args, go);
  };
  owner[name] = Object.assign(replacement, original);
}

const asPromise: Instead = (mode, name) =>
  // Neither done nor refused: the process is dead to whoever waits.
  mode === 'stop' ? never() : Promise.reject(failure(name));

const asCallback: Instead = (mode, name, args) => {
  const callback = args.at(-1) as (error: Error) => void;
  if (mode === 'fail') setImmediate(callback, failure(name));
  else kept.push(callback);
};

const asProgram: Instead = (mode, _name, args, go) => {
  const options = args[0] as { file: string; args: string[] };
  const script =
    mode === 'stop'
      ? 'exec sleep 20'
      : `${mode === 'lie' ? '"$@" > /dev/null; ' : ''}echo out of luck >&2; exit 1`;
  options.args = ['sh', '-c', script, 'sh', options.file, ...options.args.slice(1)];
  options.file = 'sh';
  return go();
};

function failure(syscall: string): Error {
  return Object.assign(new Error(`EIO: i/o error, ${syscall}`), { code: 'EIO', errno: -5, syscall });
}

/** How a step ends; undefined when it happens. */
function endingOf(call: string, paths: string[] | undefined): Watch['mode'] | undefined {
  const text = paths?.join(' → ') ?? '';
  const found = [...watches].find(([name]) => text.includes(`${name}/`));
  if (found === undefined) return undefined;
  const [name, watching] = found;
  if (watching.ended) return watching.mode === 'stop' ? 'stop' : undefined;
  if (watching.mode === 'stop' && SYNCS.has(call)) return undefined;
  if (watching.mode === 'lie' && !['spawn', 'call'].includes(call)) return undefined;
  const step = `${call} ${nameOf(text.replaceAll(new RegExp(`(?:/[^\\s":]*/)?${name}/`, 'g'), '').replaceAll(name, 'POOL'))}`;
  if (LOOKS.test(step) || watching.beside?.test(step)) return undefined;
  // Beyond that it is the same step for the same thing, such as another object. Of a second file the first call is enough.
  const most = OF_OPEN_FILE.has(call) && step.endsWith('its files') ? 1 : 2;
  const times = Math.min((watching.done.get(step) ?? 0) + 1, most);
  watching.done.set(step, times);
  const before = times === 1 ? step : `${step} (${times})`;
  if (watching.passing.has(before)) return undefined;
  watching.ended = true;
  told(name, before);
  return watching.mode;
}

function textsOfCallback(name: string, args: unknown[]): string[] | undefined {
  const creates = name !== 'open' || (typeof args[1] === 'number' && (args[1] & 0o100) !== 0);
  if (!creates) return undefined;
  return typeof args[0] === 'number' ? [pathOf(args[0])] : textOf(args[0]);
}

function programOf(args: unknown[]): string[] {
  return (args[0] as { args: string[] }).args;
}

function textOf(path: unknown): string[] {
  const text = Buffer.isBuffer(path) ? path.toString('latin1') : path;
  if (typeof text !== 'string') return [];
  const found = /^\/proc\/self\/fd\/(\d+)(.*)$/s.exec(text);
  return [found === null ? text : `${pathOf(Number(found[1]))}${found[2]}`];
}

function pathOf(fd: number): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}

/** The same name for the same step of another round. */
const nameOf = (text: string) =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replaceAll(/auto_\w{6}/g, 'auto_X')
    .replaceAll(/objects\/[0-9a-f]{2}\b/g, 'objects/XX')
    .replaceAll(/[0-9a-f]{16,}|(?<=_)[0-9a-f]{6,12}\b/g, 'HASH')
    // In the system and in homes, also where an import puts them, the same is done with as many files as there are.
    .replaceAll(/(\b(tree|homes?\/\w+|imports\/ID\/\d+)|@states\/ID\/[\w-]+)\/\S+/g, 'its files')
    .replaceAll(/[0-9]+/g, 'N');
