// The thread of waited-programs.ts.
import { parentPort } from 'node:worker_threads';
import { type ProgramFailed, type ProgramOutput, startProgram } from './small-process.ts';
import type { WaitRequest, WaitResult } from './waited-programs.ts';

const NOTHING = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };

parentPort?.on('message', async ({ program, port, ended }: WaitRequest) => {
  const result: WaitResult = await startProgram(program).ended.then(
    (output) => ({ output }),
    (error: ProgramFailed & Partial<ProgramOutput>) => {
      const { message, code, signal, stdout = NOTHING.stdout, stderr = NOTHING.stderr } = error;
      return { output: { stdout, stderr }, failed: { message, code, signal } };
    },
  );
  port.postMessage(result);
  Atomics.store(ended, 0, 1);
  Atomics.notify(ended, 0);
});
