import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assertOutsideTransaction, type Log } from '@croft/runtime';
import { type BrokerReport, type BrokerRequest, SOCKET_NAME, TICKET_LENGTH } from './broker-messages.ts';
import { GIT_ENVIRONMENT } from './environment.ts';

/** How a program ended; code null when a signal ended it. */
export interface Exit {
  code: number | null;
  stderr: string;
}

/** A program that runs. */
export interface RunningProgram {
  /** Undefined when it was started without input. */
  readonly stdin: Socket | undefined;
  readonly stdout: Socket;
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

interface Job {
  /** Channels that have not connected yet, by their number: 0 is standard input, 1 standard output. */
  awaited: Map<string, PromiseWithResolvers<Socket>>;
  exit: PromiseWithResolvers<Exit>;
  ended: boolean;
}

/** Starts programs through a small process of our own; see broker-child.ts for why. */
export class Broker {
  /** For sockets and other things that need not outlive us; removed by whichever process is the last. */
  readonly folder: string;
  readonly #log: Log;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #server: Server;
  readonly #jobs = new Map<string, Job>();
  #child: ChildProcess | undefined;
  #closed = false;

  private constructor(folder: string, log: Log, searchPath: string) {
    this.#environment = { ...GIT_ENVIRONMENT, PATH: searchPath };
    this.folder = folder;
    this.#log = log;
    this.#server = createServer((socket) => this.#admit(socket));
  }

  /** Starts the broker process; programs are looked for in the folders of the search path. */
  static async open(log: Log, searchPath: string): Promise<Broker> {
    const broker = new Broker(await mkdtemp(join(tmpdir(), 'croft-git-')), log, searchPath);
    broker.#server.listen(join(broker.folder, SOCKET_NAME));
    await once(broker.#server, 'listening');
    broker.#launch();
    return broker;
  }

  /** Starts a program and returns once its channels are there. */
  async start(program: Program): Promise<RunningProgram> {
    assertOutsideTransaction(`starting ${program.command}`);
    const { command, args, input } = program;
    const ticket = randomBytes(TICKET_LENGTH / 2).toString('hex');
    const stdin = input ? Promise.withResolvers<Socket>() : undefined;
    const stdout = Promise.withResolvers<Socket>();
    const awaited = new Map([
      ...(stdin === undefined ? [] : [['0', stdin] as const]),
      ['1', stdout] as const,
    ]);
    const exit = Promise.withResolvers<Exit>();
    this.#jobs.set(ticket, { awaited, exit, ended: false });
    this.#send({
      start: ticket,
      command,
      args,
      environment: { ...this.#environment, ...program.environment },
      input,
    });
    const [stdinSocket, stdoutSocket] = await Promise.all([stdin?.promise, stdout.promise]);
    return {
      stdin: stdinSocket,
      stdout: stdoutSocket,
      exited: exit.promise,
      kill: () => this.#send({ kill: ticket }),
    };
  }

  /** Ends the broker, and through it whatever still runs. */
  async close(): Promise<void> {
    this.#closed = true;
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      if (child.connected) child.disconnect();
      await exited;
    }
    this.#server.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  #launch(): ChildProcess {
    const child = fork(fileURLToPath(new URL('./broker-child.ts', import.meta.url)), [this.folder], {
      // None of our own variables: some hold secrets.
      env: {},
      execArgv: [],
      // Outside our process group: a signal to the group leaves it alive to end its programs and tidy up.
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child.on('message', (report: BrokerReport) => this.#finish(report));
    child.on('error', (error) => this.#log.error({ reason: error.message }, 'the git broker has a problem'));
    child.on('exit', (code, signal) => {
      if (this.#child === child) this.#child = undefined;
      // Its programs go on without a parent, but nobody can learn how they end: for us they failed.
      const stderr = 'the git broker ended';
      for (const ticket of this.#jobs.keys())
        this.#finish({ ticket, code: null, signal, stderr, connected: false });
      if (!this.#closed)
        this.#log.warn({ code, signal }, 'the git broker ended; the next git process starts another');
    });
    this.#child = child;
    return child;
  }

  #send(request: BrokerRequest): void {
    if (this.#closed && 'start' in request) throw new Error('the git broker is closed');
    const child = this.#child ?? ('start' in request ? this.#launch() : undefined);
    // A failed send is followed by the exit of the child, which ends the job.
    child?.send(request, () => {});
  }

  /** The first bytes of a connection say which job and which channel it is. */
  #admit(socket: Socket): void {
    const giveUp = setTimeout(() => socket.destroy(), 10_000);
    const greet = () => {
      const greeting: Buffer | null = socket.read(TICKET_LENGTH + 1);
      if (greeting === null) return;
      clearTimeout(giveUp);
      socket.off('readable', greet);
      const ticket = greeting.toString('latin1', 0, TICKET_LENGTH);
      const channel = greeting.toString('latin1', TICKET_LENGTH);
      const job = this.#jobs.get(ticket);
      const waiting = job?.awaited.get(channel);
      if (job === undefined || waiting === undefined) return socket.destroy();
      job.awaited.delete(channel);
      if (job.ended && job.awaited.size === 0) this.#jobs.delete(ticket);
      // Nothing comes from a standard input, but its end does, and is only noticed by reading.
      if (channel === '0') socket.resume();
      return waiting.resolve(socket);
    };
    // A program that ends with input unread, or a reader that goes away, shows here; its exit code says the rest.
    socket.on('error', () => {});
    socket.on('readable', greet);
  }

  #finish({ ticket, code, stderr, connected }: BrokerReport): void {
    const job = this.#jobs.get(ticket);
    if (job === undefined) return;
    job.ended = true;
    job.exit.resolve({ code, stderr });
    if (!connected) {
      for (const channel of job.awaited.values())
        channel.reject(new Error(`git could not be started: ${stderr}`));
      job.awaited.clear();
    }
    if (job.awaited.size === 0) this.#jobs.delete(ticket);
  }
}
