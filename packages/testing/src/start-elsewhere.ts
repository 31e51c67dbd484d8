// Read before the tests of each file. What a service runs to its end while it is part of a test's process is started by a small
// process, for the reason that small-process.ts gives. The service knows nothing of it.
import type { ChildProcess, ExecFileException, execFile } from 'node:child_process';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeAll } from 'vitest';
import { type ProgramOutput, startProgram } from './small-process.ts';

type Failed = ExecFileException & Partial<ProgramOutput>;
/** The call of `execFile` that is done elsewhere: one for the bytes that a program writes, with all that it is to know. */
type Call = [
  file: string,
  args: readonly string[],
  options: { env: Record<string, string>; maxBuffer: number; cwd: string; encoding: 'buffer' },
  end: (error: ExecFileException | null, stdout: Buffer, stderr: Buffer) => void,
];

const KNOWN = ['cwd', 'encoding', 'env', 'maxBuffer'];
const nothing = () => Buffer.alloc(0);

function isForElsewhere(call: readonly unknown[]): call is Call {
  const options = call[2];
  if (call.length !== 4 || typeof options !== 'object' || options === null) return false;
  return Object.keys(options).sort().join() === KNOWN.join() && Reflect.get(options, 'encoding') === 'buffer';
}

function startElsewhere([file, args, { env, maxBuffer, cwd }, end]: Call): Pick<
  ChildProcess,
  'kill' | 'stdin'
> {
  const started = startProgram({ file, args, folder: cwd, environment: env, maxBytes: maxBuffer });
  started.ended.then(
    ({ stdout, stderr }) => end(null, stdout, stderr),
    (error: Failed) => end(error, error.stdout ?? nothing(), error.stderr ?? nothing()),
  );
  return { kill: (signal) => started.kill(signal as NodeJS.Signals), stdin: null };
}

const processes = createRequire(import.meta.url)('node:child_process') as { execFile: typeof execFile };
/** Files share a process, and each reads this module. */
const KEY = Symbol.for('croft.start-elsewhere');
const known = Reflect.get(processes, KEY) as { here: boolean } | undefined;
const state = known ?? { here: false };
if (known === undefined) {
  Reflect.set(processes, KEY, state);
  processes.execFile = new Proxy(processes.execFile, {
    apply: (original, self, call: unknown[]) =>
      !state.here && isForElsewhere(call) ? startElsewhere(call) : Reflect.apply(original, self, call),
  });
  syncBuiltinESMExports();
}

/** For a file whose tests are of how a program is run: it is run as it is outside tests. */
export function startHere(): void {
  beforeAll(() => {
    state.here = true;
  });
  afterAll(() => {
    state.here = false;
  });
}
