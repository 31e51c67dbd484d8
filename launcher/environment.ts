import { closeSync, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { parseEnv } from 'node:util';
import { StartError } from '@croft/runtime';

/** The variables a run is told, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What a run is told, and by whom. */
export interface Told {
  /** The variables of this process over those of `.env` in the working directory. */
  readonly environment: Environment;
  /** Root, whoever runs this, and whoever became root by sudo for it. */
  readonly trusted: readonly number[];
  /** Names of variables that only a `.env` of another user told. */
  readonly byOthers: ReadonlySet<string>;
}

/** The one place that reads the environment. */
export function readEnvironment(): Told {
  // oxlint-disable-next-line node/no-process-env -- this place
  const own = process.env;
  const uid = process.getuid?.() ?? 0;
  const trusted = [0, uid === 0 ? Number(own['SUDO_UID'] ?? 0) : uid];
  const { owner, variables } = readFile('.env');
  const others = trusted.includes(owner) ? [] : Object.keys(variables);
  return {
    environment: { ...variables, ...own },
    trusted,
    byOthers: new Set(others.filter((name) => !own[name])),
  };
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

/** A file of variables, and whose it is: asked of what is read, because another may be there the next moment. */
function readFile(name: string): { owner: number; variables: Environment } {
  if (!existsSync(name)) return { owner: 0, variables: {} };
  let file: number | undefined;
  try {
    file = openSync(name, 'r');
    // Editors of other systems begin a file with a mark, which would be part of the first name.
    const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
    for (const line of strayLines(text)) {
      process.stderr.write(
        `Warning: line ${line} of ${name} is no assignment such as NAME=value and is left out.\n`,
      );
    }
    return { owner: fstatSync(file).uid, variables: parseEnv(text) };
  } catch (error) {
    throw new StartError(
      `The file ${name} in the working directory cannot be read: ${(error as Error).message}`,
    );
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Numbers of the lines that Node's parser passes over: neither empty, nor comments, nor assignments or values of several lines. */
function strayLines(text: string): number[] {
  const stray: number[] = [];
  const lines = text.split(/\r\n|\n|\r/);
  for (let index = 0; index < lines.length; index++) {
    const line = (lines[index] as string).trim();
    if (line === '' || line.startsWith('#')) continue;
    const [, name = '', value = ''] = /^(?:export\s+)?([^=]*)=\s*(.*)$/.exec(line) ?? [];
    if (!/^[\w.-]+$/.test(name.trim())) {
      stray.push(index + 1);
      continue;
    }
    const quote = /^["'`]/.exec(value)?.[0];
    if (quote === undefined || value.indexOf(quote, 1) > 0) continue;
    const end = lines.findIndex((later, at) => at > index && later.includes(quote));
    if (end > 0) index = end;
  }
  return stray;
}
