import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, type Log, silentLog } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { diskFolder } from '@croft/testing';
import {
  type ClientReadableStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { onTestFinished } from 'vitest';
import { type RunningState, type StartOptions, startState, stateSettings } from '../src/index.ts';

/** Path of the contract, which test clients read for themselves. */
export const protoFile = fileURLToPath(new URL('../proto/statesvc.proto', import.meta.url));

const packageOfContract = loadPackageDefinition(loadSync(protoFile, { keepCase: true, oneofs: true }));
const StateService = (packageOfContract['statesvc'] as Record<string, ServiceClientConstructor>)[
  'StateService'
] as ServiceClientConstructor;

/** One call as a stock client sees it. */
export interface Answer {
  readonly lines: string[];
  readonly results: Record<string, unknown>[];
  /** Fields in the order they came. */
  readonly order: string[];
  readonly code: number;
  readonly details: string;
  readonly requestId: string | undefined;
}

/** How to make a call. */
export interface CallOptions {
  readonly metadata?: Record<string, string>;
  readonly deadlineMs?: number;
  readonly onLine?: (line: string, stream: ClientReadableStream<unknown>) => void;
}

/** Makes a call and waits for its end. */
export async function callAt(address: string, name: string, request: object = {}, options: CallOptions = {}) {
  const client = new StateService(address, credentials.createInsecure());
  try {
    const metadata = new Metadata();
    for (const [key, value] of Object.entries(options.metadata ?? {})) metadata.set(key, value);
    const deadline = options.deadlineMs === undefined ? {} : { deadline: Date.now() + options.deadlineMs };
    const method = client[name] as unknown as (...given: unknown[]) => ClientReadableStream<unknown>;
    const stream = method.call(client, request, metadata, deadline);
    return await collect(stream, options);
  } finally {
    client.close();
  }
}

/** What a call answers, when it has ended. */
export function collect(stream: ClientReadableStream<unknown>, options: CallOptions): Promise<Answer> {
  const lines: string[] = [];
  const results: Record<string, unknown>[] = [];
  const order: string[] = [];
  let requestId: string | undefined;
  return new Promise((resolve) => {
    stream.on('metadata', (metadata: Metadata) => {
      requestId = metadata.get('requestid').at(0) as string | undefined;
    });
    stream.on('data', (message: Record<string, unknown>) => {
      const field = (message['reply'] as string | undefined) ?? 'log';
      order.push(field);
      if (field === 'log') {
        lines.push(String(message['log']));
        options.onLine?.(String(message['log']), stream);
      } else results.push({ [field]: message[field] });
    });
    const end = (status: { code: number; details: string }) =>
      resolve({ lines, results, order, code: status.code, details: status.details, requestId });
    stream.on('error', (error: ServiceError) => end(error));
    stream.on('status', (status: { code: number; details: string }) => {
      if (status.code === 0) end(status);
    });
  });
}

/** A daemon in this process, on folders of its own. */
export interface Daemon {
  readonly service: RunningState;
  /** The daemon's folder. */
  readonly folder: string;
  /** The tree that is the machine's system. */
  readonly tree: string;
  call(name: string, request?: object, options?: CallOptions): Promise<Answer>;
  /** Saves and gives the name; the test fails when that does. */
  save(stateName?: string): Promise<string>;
  dump(): Promise<Dump>;
}

/** What tests read of a dump. */
export interface Dump {
  readonly storage: { readonly driver: string; readonly location: string };
  readonly machines: readonly {
    readonly id: string;
    readonly bootedState: string | null;
    readonly nextState: string | null;
    readonly nextUsers: boolean;
    readonly kernel: string;
    readonly lastUsedAt: string | null;
    readonly states: readonly DumpedState[];
  }[];
  readonly homes: readonly {
    readonly user: string;
    readonly path: string;
    readonly machines: readonly string[];
  }[];
}

/** What tests read of a dumped state. */
export interface DumpedState {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly user: string | null;
  readonly system: string | null;
  readonly oneInstant: boolean;
  readonly automatic: boolean;
  readonly pinned: boolean;
  readonly description: string;
  readonly imported: { readonly id: string; readonly bootable: boolean } | null;
  readonly partial: boolean;
  readonly removing: boolean;
  readonly createdAt: string;
  readonly members: readonly {
    readonly dataset: string;
    readonly path: string;
    readonly guid: string;
    readonly snapshot: string;
    readonly unreadable: number;
    readonly torn: number;
  }[];
}

/** What a test may set about its daemon. */
export interface DaemonOptions {
  readonly folder?: string;
  readonly tree?: string;
  readonly settings?: Record<string, string>;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly onStop?: () => void;
  /** See `DoorOptions` of the service. */
  readonly activatedSocket?: number;
  readonly lookupPrograms?: StartOptions['lookupPrograms'];
  readonly tokens?: StartOptions['tokens'];
}

/** Starts a daemon that ends with the test. */
export async function startDaemon({
  activatedSocket,
  lookupPrograms,
  tokens,
  ...options
}: DaemonOptions = {}): Promise<Daemon> {
  const folder = options.folder ?? join(temporaryFolder(), 'state');
  const tree = options.tree ?? temporaryFolder();
  const service = await startState({
    settings: readSettings(stateSettings, {
      // What the root of the machine that runs the tests is on is its own business, too.
      STATESVC_STORAGE: 'vault',
      STATESVC_VAULT_SYSTEM: tree,
      // The disk of the machine that runs the tests may be full; tests of the limit set it.
      STATESVC_MIN_FREE: '0',
      STATESVC_CMDLINE_FILE: join(folder, 'not-there'),
      STATESVC_POLICY: join(folder, 'not-there'),
      // The menu of the machine that runs the tests is its own business.
      STATESVC_BOOT_LOADER: 'none',
      ...options.settings,
    }),
    folder,
    log: options.log ?? silentLog,
    version: '1.2.3-test',
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.onStop === undefined ? {} : { onStop: options.onStop }),
    activatedSocket,
    ...(lookupPrograms === undefined ? {} : { lookupPrograms }),
    ...(tokens === undefined ? {} : { tokens }),
  });
  onTestFinished(() => service.close(0));
  const call: Daemon['call'] = (name, request, callOptions) =>
    callAt(service.address, name, request, callOptions);
  return {
    service,
    folder,
    tree,
    call,
    async save(stateName = '') {
      const answer = await call('SaveSystemState', { stateName });
      if (answer.code !== 0) throw new Error(answer.details);
      return answer.results[0]?.['stateName'] as string;
    },
    async dump() {
      const answer = await call('DumpStates');
      return JSON.parse(answer.results.map(({ states }) => states).join('')) as Dump;
    },
  };
}

/** An empty folder that goes with the test; on a disk, which is what a state is kept on. */
export function temporaryFolder(parent = diskFolder): string {
  const folder = mkdtempSync(join(parent, 'croft-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Everything a restore must bring back of a tree: one line an entry, by path (latin1). */
export function treeFacts(root: string): Record<string, string> {
  const facts: Record<string, string> = {};
  const links = new Map<bigint, string>();
  const visit = (path: string, name: string) => {
    const at = Buffer.from(path, 'latin1');
    const stat = lstatSync(at, { bigint: true });
    const common = `${(stat.mode & 0o7777n).toString(8)} ${stat.uid}:${stat.gid} ${stat.mtimeNs / 1000n}`;
    if (stat.isDirectory()) {
      facts[name] = `folder ${common}`;
      for (const child of readdirSync(at, { encoding: 'latin1' }).sort())
        visit(`${path}/${child}`, `${name}/${child}`);
    } else if (stat.isSymbolicLink()) {
      facts[name] = `link ${readlinkSync(at, { encoding: 'latin1' })} ${stat.uid}:${stat.gid}`;
    } else if (stat.isFile()) {
      const first = links.get(stat.ino) ?? name;
      links.set(stat.ino, first);
      const hash = createHash('sha256').update(readFileSync(at)).digest('hex');
      facts[name] = `file ${common} ${stat.size} ${hash} ${first === name ? '' : `= ${first}`}`;
    } else facts[name] = 'special';
  };
  visit(Buffer.from(root).toString('latin1'), '');
  return facts;
}

/** Every file below the vault with its size: equal before and after means nothing changed. */
export function vaultFacts(folder: string): string[] {
  return readdirSync(join(folder, 'vault'), { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('cache'))
    .map(
      (name) =>
        `${name} ${statSync(join(folder, 'vault', name)).isFile() ? statSync(join(folder, 'vault', name)).size : '/'}`,
    )
    .sort();
}
