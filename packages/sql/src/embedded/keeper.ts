import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { RunAs } from './run-as.ts';

/**
 * A shell stands between us and the server, because a server must not outlive us, not even when we are killed
 * with -9: the watcher reads a pipe that only we hold open, and at its end asks the server to stop (SIGINT is
 * PostgreSQL's fast shutdown), later insists (SIGQUIT). The shell leaves with the server's exit code.
 */
const SCRIPT = `
exec 3<&0
"$@" </dev/null >&2 3<&- &
server=$!
echo "$server"
{ read -r _ <&3; kill -INT "$server"; sleep 20; kill -QUIT "$server"; } </dev/null >/dev/null 2>&1 &
watcher=$!
exec 3<&- </dev/null >/dev/null
wait "$server"; status=$?
kill "$watcher" 2>/dev/null
exit "$status"
`;

/** A program that ends with us. */
export interface KeptProcess {
  readonly pid: number;
  /** Settles when the program has ended, with its exit code (128 + number when a signal ended it). */
  readonly ended: Promise<number>;
}

/**
 * Starts a program under a keeper, in a session of its own so that Ctrl-C in the terminal reaches us first and
 * the order of stopping stays ours. `onLine` gets everything it prints.
 */
export async function startKept(
  command: readonly string[],
  runAs: RunAs,
  environment: Readonly<Record<string, string>>,
  onLine: (line: string) => void,
): Promise<KeptProcess> {
  const keeper = spawn('/bin/sh', ['-c', SCRIPT, 'croft-postgres', ...runAs.prefix, ...command], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    cwd: '/',
    env: { PATH, LC_ALL: 'C', TZ: 'UTC', ...environment },
    ...runAs.identity,
  });
  await once(keeper, 'spawn');
  createInterface({ input: keeper.stderr }).on('line', onLine);
  keeper.stdin.on('error', () => {}); // the keeper has gone: `ended` tells
  const ended = keeperEnded(keeper);
  const pid = Number(await firstLine(keeper));
  return {
    pid,
    ended: ended.then((code) => {
      // Somebody killed the keeper: the server must not stay behind alone.
      if (isAlive(pid)) process.kill(pid, 'SIGQUIT');
      return code;
    }),
  };
}

/** The programs that we look for ourselves (`unshare`) are the system's, whatever PATH we were given. */
export const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin';

/** Whether a process with this number exists, ours or not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

type Keeper = ChildProcessByStdio<Writable, Readable, Readable>;

async function keeperEnded(keeper: Keeper): Promise<number> {
  // 'close' and not 'exit': what the server printed last is read by then, and its children are gone too.
  const [code, signal] = (await once(keeper, 'close')) as [number | null, NodeJS.Signals | null];
  return code ?? (signal === 'SIGKILL' ? 137 : 143);
}

async function firstLine(keeper: Keeper): Promise<string> {
  for await (const line of createInterface({ input: keeper.stdout })) return line;
  throw new Error('The shell /bin/sh did not start PostgreSQL.');
}
