import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { generatedFiles } from './generated-files.ts';
import { lintCanary } from './lint-canary.ts';

/** One check: its name, and what it found; an empty text is a pass. */
interface Check {
  name: string;
  run(): Promise<string>;
}

const root = join(import.meta.dirname, '..');

/** Runs a program of node_modules/.bin; what it prints is the finding when it fails. */
function program(name: string, ...args: string[]): () => Promise<string> {
  return async () => {
    const child = spawn(join(root, 'node_modules/.bin', name), args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [out, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    return code === 0 ? '' : `${out}${errors}`.trim() || `${name} ended with ${String(code)}`;
  };
}

const checks: Check[] = [
  { name: 'types', run: program('tsc', '--noEmit', '--project', '.') },
  { name: 'lint and folder rules', run: program('oxlint', '--type-aware', '--deny-warnings', '--quiet') },
  { name: 'folder rules bite', run: lintCanary },
  { name: 'format', run: program('biome', 'check', '--reporter=summary', '.') },
  { name: 'gRPC schemas', run: program('buf', 'lint', 'services/state') },
  { name: 'unused code and undeclared imports', run: program('knip', '--no-progress') },
  { name: 'generated files', run: () => generatedFiles({ write: false }) },
];

const started = performance.now();
let failed = 0;
// Two at a time: that is how many cores CI has, and type checking alone takes one of them.
const queue = [...checks];
await Promise.all([work(), work()]);
process.stdout.write(`${checks.length - failed} passed, ${failed} failed in ${seconds(started)}\n`);
process.exitCode = failed === 0 ? 0 : 1;

async function work(): Promise<void> {
  for (let check = queue.shift(); check !== undefined; check = queue.shift()) {
    const start = performance.now();
    const found = await check.run();
    if (found !== '') failed++;
    process.stdout.write(
      `${found === '' ? '✓' : '✗'} ${check.name} ${seconds(start)}\n${found === '' ? '' : `${found}\n`}`,
    );
  }
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
