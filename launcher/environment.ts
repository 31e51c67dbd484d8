import { existsSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { parseEnv } from 'node:util';
import { StartError } from '@croft/runtime';

/** The variables a run is told, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of this process over those of `.env` in the working directory. The one place that reads them. */
export function readEnvironment(): Environment {
  // oxlint-disable-next-line node/no-process-env -- this place
  const own = process.env;
  return { ...readFile('.env'), ...own };
}

/**
 * On Node 20 the bootstrap stays between the terminal and us and holds the other end of a pipe; its closing says
 * that the bootstrap was killed.
 */
export function onOrphaned(environment: Environment, orphaned: () => void): void {
  const descriptor = environment['CROFT_PARENT_PIPE'];
  if (descriptor === undefined) return;
  const pipe = new Socket({ fd: Number(descriptor), readable: true, writable: false });
  pipe.on('error', () => {}); // ends it as well
  pipe.once('close', orphaned);
  pipe.resume().unref();
}

function readFile(name: string): Environment {
  if (!existsSync(name)) return {};
  try {
    return parseEnv(readFileSync(name, 'utf8'));
  } catch (error) {
    throw new StartError(
      `The file ${name} in the working directory cannot be read: ${(error as Error).message}`,
    );
  }
}
