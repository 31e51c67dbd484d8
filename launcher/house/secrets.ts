import { randomBytes } from 'node:crypto';
import { chmod, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomToken, StartError } from '@croft/runtime';
import { Secret } from '@croft/settings';

/** What one Croft must keep to itself and may not lose. */
export interface Secrets {
  /** Signs access tokens. */
  readonly jwtSecret: Secret;
  /** Encrypts and keys what the database keeps. */
  readonly atRestKey: Secret;
  /** The administrator's first password, until it has been shown. */
  readonly administratorPassword: Secret | undefined;
}

/** For checking settings before anything is touched. */
export const PLACEHOLDERS: Secrets = {
  jwtSecret: new Secret('a placeholder, as long as a real one'),
  atRestKey: new Secret('a placeholder, as long as a real one'),
  administratorPassword: undefined,
};

/**
 * Reads `secrets.json` of the data folder, or makes it at the first run.
 * @returns the secrets, and whether they are new
 * @throws StartError when it is there and cannot be used: new ones would lock everybody out
 */
export async function readSecrets(dataFolder: string): Promise<{ secrets: Secrets; made: boolean }> {
  const file = join(dataFolder, 'secrets.json');
  const written = await readWritten(file);
  if (written === undefined) return { secrets: await makeSecrets(file), made: true };
  await chmod(file, 0o600);
  return { secrets: parse(written, file), made: false };
}

/** Reads `secrets.json` without making or mending anything, beside a Croft that may be running; undefined without one. */
export async function lookAtSecrets(dataFolder: string): Promise<Secrets | undefined> {
  const file = join(dataFolder, 'secrets.json');
  const written = await readWritten(file);
  return written === undefined ? undefined : parse(written, file);
}

/** Forgets the administrator's password once it has been shown. */
export async function forgetPassword(dataFolder: string, secrets: Secrets): Promise<void> {
  await write(join(dataFolder, 'secrets.json'), { ...secrets, administratorPassword: undefined });
}

async function readWritten(file: string): Promise<string | undefined> {
  return await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new StartError(`${file} cannot be read: ${error.message}. Give it to the user that runs Croft.`);
  });
}

async function makeSecrets(file: string): Promise<Secrets> {
  const secrets = {
    jwtSecret: new Secret(randomToken(48)),
    atRestKey: new Secret(randomBytes(32).toString('base64')),
    administratorPassword: new Secret(randomToken(15)),
  };
  await write(file, secrets);
  return secrets;
}

function parse(written: string, file: string): Secrets {
  const broken = (why: string) =>
    new StartError(
      `${file} is damaged (${why}). Bring it back from a backup; without it tokens and encrypted values of this data folder are lost.`,
    );
  let values: Record<string, unknown>;
  try {
    values = JSON.parse(written) as Record<string, unknown>;
  } catch {
    throw broken('it is no JSON');
  }
  const read = (name: string): Secret | undefined => {
    const value = values[name];
    return typeof value === 'string' && value !== '' ? new Secret(value) : undefined;
  };
  const needed = (name: string): Secret => {
    const value = read(name);
    if (value === undefined) throw broken(`it has no ${name}`);
    return value;
  };
  return {
    jwtSecret: needed('jwtSecret'),
    atRestKey: needed('atRestKey'),
    administratorPassword: read('administratorPassword'),
  };
}

/** Atomic and on disk: a crash leaves the old file or the new one, never half of one. */
async function write(file: string, secrets: Secrets): Promise<void> {
  const revealed = Object.fromEntries(
    Object.entries(secrets as unknown as Record<string, Secret | undefined>).map(([name, value]) => [
      name,
      value?.reveal(),
    ]),
  );
  const unfinished = `${file}.tmp`;
  await rm(unfinished, { force: true });
  try {
    await using handle = await open(unfinished, 'wx', 0o600);
    await handle.writeFile(`${JSON.stringify(revealed, undefined, 2)}\n`);
    await handle.sync();
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await using folder = await open(dirname(file));
  await folder.sync();
}
