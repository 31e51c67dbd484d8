import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assertOutsideTransaction, type Log } from '@croft/runtime';
import {
  type BrokerReport,
  type BrokerRequest,
  CHANNEL_NAME_LENGTH,
  type ExitReport,
  SOCKET_NAME,
} from './broker-messages.ts';
import { DirectOutput } from './direct-output.ts';
import { confined, GIT_ENVIRONMENT, MAX_MEMORY_BYTES } from './environment.ts';

/** How a program ended; code null when a signal ended it, or nobody knows how. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  stderr: string;
}

/** A program that runs. */
export interface RunningProgram<Output = Socket> {
  /** Undefined when it was started without input. */
  readonly stdin: Socket | undefined;
  readonly stdout: Output;
  readonly exited: Promise<Exit>;
  kill(): void;
}

/** What to start. */
export interface Program {
  command: string;
  args: readonly string[];
  input: boolean;
  environment?: Readonly<Record<string, string>>;
}

/** A connection to the broker process, and its name there. */
interface Channel<Output> {
  name: string;
  end: Output;
}

/** Starts programs through a small process of our own; see broker-child.ts for why. */
export class Broker {
  /** For sockets and other things that need not outlive us; removed by whichever process is the last. */
  readonly folder: string;
  readonly #log: Log;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #jobs = new Map<number, PromiseWithResolvers<Exit>>();
  /** The broker process, once it accepts connections. */
  #child: Promise<ChildProcess> | undefined;
  #started = 0;
  #closed = false;

  private constructor(folder: string, log: Log, searchPath: string) {
    this.#environment = { ...GIT_ENVIRONMENT, PATH: searchPath };
    this.folder = folder;
    this.#log = log;
  }

  /** Starts the broker process; programs are looked for in the folders of the search path. */
  static async open(log: Log, searchPath: string): Promise<Broker> {
    const broker = new Broker(await mkdtemp(join(tmpdir(), 'croft-git-')), log, searchPath);
    await broker.#running();
    return broker;
  }

  /** Starts a program and returns once its channels are there. */
  start(program: Program): Promise<RunningProgram> {
    return this.#start(program, () => this.#open());
  }

  /** The same for a program whose output is only passed on. */
  startDirect(program: Program): Promise<RunningProgram<DirectOutput>> {
    return this.#start(program, async () => {
      const end = new DirectOutput(this.#socketPath);
      return { name: await end.greeting, end };
    });
  }

  /** Ends the broker, and through it whatever still runs. */
  async close(): Promise<void> {
    this.#closed = true;
    const child = await this.#child?.catch(() => undefined);
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      if (child.connected) child.disconnect();
      await exited;
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  get #socketPath(): string {
    return join(this.folder, SOCKET_NAME);
  }

  async #start<Output extends { destroy(): unknown }>(
    { command, args, input, environment }: Program,
    openOutput: () => Promise<Channel<Output>>,
  ): Promise<RunningProgram<Output>> {
    assertOutsideTransaction(`starting ${command}`);
    const child = await this.#running();
    const [stdin, stdout] = await Promise.all([input ? this.#open() : undefined, openOutput()]);
    // Nothing comes from a standard input, but its end does, and is only noticed by reading.
    stdin?.end.resume();
    if (!child.connected) throw new Error('the git broker ended');
    const job = ++this.#started;
    const exit = Promise.withResolvers<Exit>();
    this.#jobs.set(job, exit);
    const request = { start: job, command, args, environment: { ...this.#environment, ...environment } };
    send(child, { ...request, stdin: stdin?.name, stdout: stdout.name });
    const kill = () => send(child, { kill: job });
    return { stdin: stdin?.end, stdout: stdout.end, exited: exit.promise, kill };
  }

  async #running(): Promise<ChildProcess> {
    if (this.#closed) throw new Error('the git broker is closed');
    this.#child ??= this.#launch();
    return await this.#child;
  }

  async #launch(): Promise<ChildProcess> {
    // Its programs inherit the limit: to set it for each would take a shell for each.
    const [shell, start] = confined(MAX_MEMORY_BYTES, process.execPath, []);
    const child = fork(fileURLToPath(new URL('./broker-child.ts', import.meta.url)), [this.folder], {
      // None of our own variables: some hold secrets.
      env: {},
      execPath: shell,
      execArgv: start,
      // Outside our process group: a signal to the group leaves it alive to end its programs and tidy up.
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const listening = Promise.withResolvers<void>();
    child.on('message', (report: BrokerReport) =>
      report === 'listening' ? listening.resolve() : this.#finish(report),
    );
    child.on('error', (error) => this.#log.error({ reason: error.message }, 'the git broker has a problem'));
    child.on('exit', (code, signal) => {
      this.#child = undefined;
      // Its programs go on without a parent, but nobody can learn how they end: for us they failed.
      const stderr = 'the git broker ended';
      listening.reject(new Error(stderr));
      for (const job of this.#jobs.keys()) this.#finish({ job, code: null, signal: null, stderr });
      if (!this.#closed)
        this.#log.warn({ code, signal }, 'the git broker ended; the next git process starts another');
    });
    await listening.promise;
    return child;
  }

  /** Connects to the broker process, whose first bytes are the name of the connection. */
  async #open(): Promise<Channel<Socket>> {
    const socket = connect(this.#socketPath);
    for (;;) {
      const name: Buffer | null = socket.read(CHANNEL_NAME_LENGTH);
      if (name === null) {
        await once(socket, 'readable');
        if (socket.readableEnded) throw new Error('the git broker ended');
      } else {
        // A program that ends with input unread, or a reader that goes away, shows here; its exit code says the rest.
        socket.on('error', () => {});
        return { name: name.toString('latin1'), end: socket };
      }
    }
  }

  #finish({ job, ...exit }: ExitReport): void {
    this.#jobs.get(job)?.resolve(exit);
    this.#jobs.delete(job);
  }
}

/** A send that fails is followed by the exit of the process, which ends its jobs. */
function send(child: ChildProcess, request: BrokerRequest): void {
  if (child.connected) child.send(request, () => {});
}
