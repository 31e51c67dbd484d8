import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from './refusal.js';

/** The version that runs TypeScript as we use it. */
const MAJOR = 24;

/**
 * Node warns of what is nobody's concern who runs Croft: that type stripping is experimental, and (DEP0123) that the client of
 * gRPC names a server by its address. Half of what V8 gives to young objects by itself: some 70 MB less under load, at no cost
 * that could be measured. Small requests leave little behind.
 */
const FLAGS = [
  '--disable-warning=ExperimentalWarning',
  '--disable-warning=DEP0123',
  '--max-semi-space-size=8',
];

/** The program that `node-linux-…` was linked for; without it (musl, NixOS) that Node does not start. */
const LOADERS = { x64: '/lib64/ld-linux-x86-64.so.2', arm64: '/lib/ld-linux-aarch64.so.1' };

/**
 * The Node that came with the packages, or the running one when that will do.
 * @throws Refusal when there is none
 */
export function chooseNode(root) {
  const { platform, arch, versions, execPath } = process;
  const ours = join(root, `node_modules/node-${platform}-${arch}/bin/node`);
  if (existsSync(ours) && existsSync(LOADERS[arch] ?? '')) return ours;
  if (Number(versions.node.split('.')[0]) >= MAJOR) return execPath;
  throw new Refusal(
    `Croft needs Node.js ${MAJOR} or later on this machine (${platform}-${arch}), and this is ${versions.node}: get one from https://nodejs.org.`,
  );
}

/** Runs the file in place of this process: same terminal, same exit code, same signals. */
export async function runOn(node, file, args, environment) {
  const command = [node, ...FLAGS, file, ...args];
  if (typeof process.execve === 'function') {
    process.emitWarning = () => {}; // it announces that execve is experimental
    process.execve(node, command, environment);
  }
  await runBeside(command, environment);
}

/**
 * Before Node 22.15 a process cannot become another, so this one stays and hands signals on. When it is killed the
 * pipe on descriptor 3 closes, and main.ts takes that for a SIGTERM.
 */
async function runBeside([node, ...words], environment) {
  const isCroft = words.some((word) => word.endsWith('main.ts'));
  const child = spawn(node, words, {
    stdio: ['inherit', 'inherit', 'inherit', isCroft ? 'pipe' : 'ignore'],
    env: isCroft ? { ...environment, CROFT_PARENT_PIPE: '3' } : environment,
  });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (...how) => resolve(how));
  });
  if (signal === null) process.exit(code);
  for (const each of signals) process.removeAllListeners(each);
  process.kill(process.pid, signal);
}
