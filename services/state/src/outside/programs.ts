import { type ChildProcess, execFile } from 'node:child_process';

/** What a program left behind. Its exit code is a hint: what it was to do is read again from where it does it. */
export interface Ran {
  /** It was there, ended in time, and with 0. */
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it did not end with 0, in a line; empty when it did. */
  readonly why: string;
}

/** How a program is run. */
interface RunOptions {
  /** It is killed after so long, and may do what it was to do all the same, later. */
  readonly timeoutMs?: number;
  /** Most bytes of output; what writes more is killed. */
  readonly maxBytes?: number;
}

/** Runs a program with arguments, never through a shell. Never throws because of what the program did. */
export type RunProgram = (name: string, args: readonly string[], options?: RunOptions) => Promise<Ran>;

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** A program that hangs in the kernel does not die when it is killed; nobody waits for that. */
const DEATH_MS = 1000;
const NOTHING = Buffer.alloc(0);

/** Programs of the system, in the folders of a search path such as `/usr/sbin:/usr/bin`. */
export function programsIn(searchPath: string): RunProgram {
  // Messages are recognised, so they must not be translated.
  const env = { PATH: searchPath, LC_ALL: 'C' };
  return (name, args, { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = {}) =>
    new Promise((resolve) => {
      let late: Error | undefined;
      const end = (error: Error | null, stdout: Buffer, stderr: Buffer) => {
        clearTimeout(timer);
        resolve(late === undefined ? ranAs(name, error, stdout, stderr) : ranAs(name, late, stdout, NOTHING));
      };
      let timer: NodeJS.Timeout | undefined;
      let child: ChildProcess;
      try {
        child = execFile(name, args, { env, maxBuffer: maxBytes, encoding: 'buffer', cwd: '/' }, end);
      } catch (error) {
        // Before there is a program: arguments that the system does not take, or no memory for it.
        end(error as Error, NOTHING, NOTHING);
        return;
      }
      timer = setTimeout(() => {
        child.kill('SIGKILL');
        late = new Error(`did not end within ${timeoutMs / 1000} s`);
        timer = setTimeout(end, DEATH_MS, late, NOTHING, NOTHING);
      }, timeoutMs);
      child.stdin?.end();
    });
}

function ranAs(name: string, error: Error | null, stdout: Buffer, stderr: Buffer): Ran {
  // Decoded with replacement: names on a disk are bytes, and a message that has one goes to callers.
  const [out, err] = [stdout.toString('utf8'), stderr.toString('utf8')];
  return { ok: error === null, stdout: out, stderr: err, why: error === null ? '' : whyOf(name, error, err) };
}

function whyOf(name: string, error: Error, stderr: string): string {
  const { code } = error as { code?: unknown };
  if (code === 'ENOENT') return `the program ${name} is not installed`;
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `${name} said more than was expected`;
  const said = stderr.trim().split('\n').at(-1);
  if (said !== undefined && said !== '') return `${name}: ${said.slice(0, 500)}`;
  return typeof code === 'number' ? `${name} ended with ${code}` : `${name} ${error.message}`;
}
