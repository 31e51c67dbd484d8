import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages, isInstalled } from './install.js';
import { chooseNode, runOn } from './node.js';
import { Refusal } from './refusal.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * What Node has for everything: files, names of hosts, compression. Password hashes run on the same threads, as many at once
 * as there are cores, and would hold up all of that.
 */
const OTHER_THREADS = 4;

/** Plain JavaScript for Node 20 without dependencies, like all of this folder: nothing is installed yet. */
export async function bootstrap(words, environment, refuse) {
  // A file is told by its shape, because before the installation it may not be there.
  const named = /\.(?:ts|mjs|js)$/.test(words[0] ?? '');
  const [file, args] = named ? [words[0], words.slice(1)] : ['main.ts', words];
  try {
    if (!isInstalled(ROOT)) await installPackages(ROOT, environment);
    const path = resolve(ROOT, file);
    if (!existsSync(path)) {
      throw new Refusal(
        `${path} is missing. When it is a development tool, install those too: npm ci --ignore-scripts --include=dev.`,
      );
    }
    const own = {
      NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/node'), // compiled code: half of a start
      UV_THREADPOOL_SIZE: String(availableParallelism() + OTHER_THREADS),
    };
    await runOn(chooseNode(ROOT), path, args, { ...own, ...environment });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refuse(error.message);
  }
}
