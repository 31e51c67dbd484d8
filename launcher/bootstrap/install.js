import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { takeInstallLock } from './install-lock.js';
import { explainFolder, Refusal } from './refusal.js';

/** The packages take 620 MB, npm's cache of them about as much again. */
const NEEDED_BYTES = 700e6;

/** Whether node_modules is what package-lock.json asks for. */
export function isInstalled(root) {
  const lock = read(join(root, 'package-lock.json'));
  const installed = read(join(root, 'node_modules/.package-lock.json')); // npm writes it last
  if (installed === undefined) return false;
  if (lock === undefined) return true; // a release without a lock: what is there is all there is
  if (read(mark(root)) === hash(lock)) return true;
  if (!matches(JSON.parse(lock), JSON.parse(installed))) return false;
  remember(root, lock);
  return true;
}

/**
 * Installs what package-lock.json asks for; a second start waits for the first one's installation.
 * @throws Refusal when this machine cannot
 */
export async function installPackages(root, environment) {
  const release = await takeInstallLock(join(root, '.install.tmp'));
  try {
    if (isInstalled(root)) return; // by the start that we waited for
    const { bavail, bsize } = statfsSync(root);
    if (bavail * bsize < NEEDED_BYTES) throw explainFolder({ code: 'ENOSPC' }, root);
    console.error("Installing Croft's packages with npm, once; this takes about ten seconds on a good line…");
    await runNpm(root, environment);
    remember(root, read(join(root, 'package-lock.json')));
  } finally {
    release();
  }
}

/** Every package there in the version of the lock; the other platforms' and left-out development ones may be missing. */
function matches(lock, installed) {
  return Object.entries(lock.packages).every(([path, wanted]) => {
    if (path === '') return true;
    const there = installed.packages[path];
    if (there === undefined) return wanted.optional || wanted.dev || wanted.devOptional || false;
    return (
      there.version === wanted.version && there.integrity === wanted.integrity && there.link === wanted.link
    );
  });
}

function runNpm(root, environment) {
  const own = environment.npm_execpath ?? '';
  const npm = own.endsWith('npm-cli.js') && existsSync(own) ? [process.execPath, own] : ['npm'];
  const options = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  // npm's own output is progress, so it goes where progress goes; standard output is for the answer of a command.
  const child = spawn(npm[0], [...npm.slice(1), ...options], { cwd: root, stdio: ['ignore', 2, 2] });
  const stop = (signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  return new Promise((resolve, reject) => {
    child.on('error', () =>
      reject(
        new Refusal(
          'npm is missing, and Croft installs its packages with it. It comes with Node.js: https://nodejs.org.',
        ),
      ),
    );
    child.on('exit', (code, signal) => {
      for (const each of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(each, stop);
      if (code === 0) return resolve();
      const why = signal === null ? `exit code ${code}` : signal;
      reject(
        new Refusal(
          `npm could not install Croft's packages (${why}); its own words are above. Mend that and start again, or run: npm ci --ignore-scripts`,
        ),
      );
    });
  });
}

function remember(root, lock) {
  try {
    writeFileSync(mark(root), hash(lock));
  } catch {
    // node_modules is read-only: the comparison is made again next time.
  }
}

function mark(root) {
  return join(root, 'node_modules/.croft-lock');
}

function hash(text) {
  return createHash('sha256').update(text).digest('hex');
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
