import { setTimeout as sleep } from 'node:timers/promises';
import { type Log, StartError } from '@croft/runtime';
import { isAlive, type KeptProcess, startKept } from './keeper.ts';
import { explain, USE_YOUR_OWN } from './problems.ts';
import type { RunAs } from './run-as.ts';
import { ServerLog } from './server-log.ts';

/** A server process that accepts connections. */
export interface Server {
  readonly pid: number;
  /** See EmbeddedPostgres. */
  readonly exited: Promise<string>;
  /** Resolves when the server and all its processes are gone. */
  stop(): Promise<void>;
}

/** What runs a server, and where. */
export interface Launch {
  command: readonly string[];
  runAs: RunAs;
  environment: Readonly<Record<string, string>>;
  log: Log;
  folder: string;
  /** See EmbeddedPostgresOptions. */
  whileStarting?: (() => void) | undefined;
}

/**
 * Starts the server process and waits until it accepts connections, however long the recovery after a crash
 * takes. Remnants of a killed server hold its shared memory for a moment, so that refusal is tried again.
 */
export async function launch(options: Launch): Promise<Server> {
  const { command, runAs, environment, log, folder, whileStarting } = options;
  for (const started = Date.now(); ; ) {
    const serverLog = new ServerLog(log);
    const server = await startKept(command, runAs, environment, serverLog.take);
    whileStarting?.();
    const code = await Promise.race([serverLog.ready, server.ended]);
    if (code === undefined) return supervise(server, serverLog);
    if (!/still in use/.test(serverLog.tail) || Date.now() - started > REMNANTS_MS) {
      throw new StartError(
        explain(serverLog.tail, folder) ??
          `PostgreSQL did not start on ${folder}: ${serverLog.reason}. Mend that, or ${USE_YOUR_OWN}.`,
      );
    }
    await sleep(100);
  }
}

const REMNANTS_MS = 15_000;

/** A fast shutdown takes 20 ms, and seconds when much is to be written. */
const PATIENCE_MS = 20_000;

function supervise(server: KeptProcess, serverLog: ServerLog): Server {
  let stopping = false;
  const { promise: exited, resolve } = Promise.withResolvers<string>();
  void server.ended.then((code) => {
    if (!stopping) resolve(`PostgreSQL ended by itself (${describe(code)}): ${serverLog.reason}`);
  });
  return {
    pid: server.pid,
    exited,
    async stop() {
      if (!stopping && isAlive(server.pid)) process.kill(server.pid, 'SIGINT');
      stopping = true;
      const insist = setTimeout(() => {
        if (isAlive(server.pid)) process.kill(server.pid, 'SIGQUIT');
      }, PATIENCE_MS);
      await server.ended;
      clearTimeout(insist);
    },
  };
}

/** 128 + n is how a shell says that signal n ended a program. */
function describe(code: number): string {
  return code > 128 ? `signal ${code - 128}` : `exit code ${code}`;
}
