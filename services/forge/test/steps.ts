import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import diagnostics from 'node:diagnostics_channel';
import { linkSync, mkdirSync, renameSync } from 'node:fs';
import fs from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { dirname } from 'node:path';
import { Broker, type Program } from '../src/outside/git/broker.ts';
import { Conversation } from '../src/outside/git/conversation.ts';
import { type FileSwap, FileWriter, type NewFiles, type Swapped } from '../src/outside/git/file-writer.ts';

// Stops a request before a thing it does that another process, or the next one, could see: statements that write,
// questions and programs of git that write, objects and branches that get their name in the repository. A request with the header
// `x-stop: <name> <steps>` goes on until a step that is not among those, and does nothing any more, as if the process had
// died there; others go on.

/** What the process tells the test that started it: where it is, or that a request was stopped, and before what. */
export interface Report {
  address?: string;
  stopped?: string;
  before?: string;
}

interface Watch {
  request: string;
  /** Steps that do not stop it. */
  passing: ReadonlySet<string>;
  /** How often it did what. */
  done: Map<string, number>;
  stopped: boolean;
}
const watching = new AsyncLocalStorage<Watch | undefined>();

/** The header of a request that stops before the first step that is not named. */
export const stopHeader = (request: string, passing: readonly string[]) => ({
  'x-stop': `${request} ${Buffer.from(JSON.stringify(passing)).toString('base64')}`,
});

function watchOf(header: string): Watch | undefined {
  const [request = '', steps] = header.split(' ');
  if (steps === undefined) return undefined;
  const passing = new Set(JSON.parse(Buffer.from(steps, 'base64').toString()) as string[]);
  return { request, passing, done: new Map(), stopped: false };
}

/** Makes requests stop where their headers say. */
export function stopRequests(): void {
  diagnostics.subscribe('http.server.request.start', (message) => {
    const { headers } = (message as { request: IncomingMessage }).request;
    watching.enterWith(watchOf(String(headers['x-stop'] ?? '')));
  });
  const { Client, Pool } = createRequire(import.meta.url)('pg') as { Client: Class; Pool: Class };
  stopBefore(Client.prototype, 'query', ([command]) => writingStatement((command as { text: string }).text));
  keepContext(Pool.prototype, 'connect');
  stopBefore(Conversation.prototype, 'ask', ([question]) => writingQuestion(String(question)));
  stopBefore(Broker.prototype, 'start', ([program]) => writingProgram(program as Program));
  stopBefore(fs, 'rename', ([, name]) => nameOfNaming(String(name)));
  syncBuiltinESMExports();
  stopWriting(FileWriter.prototype);
}

type Method = (...args: unknown[]) => unknown;
interface Class {
  prototype: object;
}

function stopBefore(owner: object, name: string, stepOf: (args: unknown[]) => string | undefined): void {
  const methods = owner as Record<string, Method>;
  const original = methods[name] as Method;
  methods[name] = function (this: unknown, ...args) {
    const step = stepOf(args);
    // Neither done nor refused: the process is dead to whoever waits.
    return step !== undefined && isLast(step) ? new Promise(() => {}) : original.apply(this, args);
  };
}

interface Writing {
  write: (this: FileWriter, files: NewFiles) => Promise<string[]>;
  swap: (this: FileWriter, swap: FileSwap) => Promise<Swapped>;
}

/** What the thread that writes files does in one go stops in the middle of it all the same, where files get their names. */
function stopWriting(writer: Writing): void {
  const { write, swap } = writer;
  const never = new Promise<never>(() => {});
  writer.write = async function ({ names, ...unnamed }) {
    const paths = await write.call(this, unnamed);
    for (const [index, name] of (names ?? []).entries()) {
      if (isLast('an object')) return await never;
      mkdirSync(dirname(name), { recursive: true });
      renameSync(paths[index] ?? '', name);
    }
    return [...(names ?? paths)];
  };
  writer.swap = async function (branch) {
    if (isLast('the lock of a branch')) return await never;
    if (!isLast('a branch')) return await swap.call(this, branch);
    linkSync(branch.value, branch.lock);
    return await never;
  };
}

/** Whether the request ends before this step; all that it would do side by side with it or after it does not happen either. */
function isLast(step: string): boolean {
  const watch = watching.getStore();
  if (watch === undefined || watch.stopped) return watch !== undefined;
  // Beyond that it is the same step for the same thing, such as another object.
  const times = Math.min((watch.done.get(step) ?? 0) + 1, 3);
  watch.done.set(step, times);
  const before = times === 1 ? step : `${step} (${times})`;
  watch.stopped = !watch.passing.has(before);
  if (watch.stopped) process.send?.({ stopped: watch.request, before } satisfies Report);
  return watch.stopped;
}

/** A callback may be called by whoever gives a connection back. */
function keepContext(owner: object, name: string): void {
  const methods = owner as Record<string, Method>;
  const original = methods[name] as Method;
  methods[name] = function (this: unknown, ...args) {
    return original.apply(
      this,
      args.map((arg) => (typeof arg === 'function' ? AsyncResource.bind(arg as Method) : arg)),
    );
  };
}

const writingStatement = (text: string) =>
  /^commit|\b(insert into|delete from|update) "/.test(text) ? nameOf(text) : undefined;

const writingQuestion = (question: string) =>
  /^(info|contents) /.test(question) ? undefined : nameOf(question.split('\0', 2).join(' '));

const READING = new Set(['rev-list', 'merge-base', 'show-ref', 'for-each-ref', 'cat-file', 'diff-tree']);

/** What lies in a folder of its own is not in the repository yet. */
const nameOfNaming = (name: string) => (name.includes('tmp_objdir') ? undefined : 'an object');

/** A conversation that begins has done nothing yet. */
const writingProgram = ({ args }: Program) =>
  args.some((arg) => READING.has(arg) || arg === '--stdin') ? undefined : nameOf(args.join(' '));

/** The same name for the same step of the next pull request. */
const nameOf = (text: string) =>
  text
    .replaceAll(/[0-9a-f]{40}|[0-9]+/g, 'N')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 70);
