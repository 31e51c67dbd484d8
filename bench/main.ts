import { readdirSync } from 'node:fs';
import type { Figure } from './figure.ts';

const NOT_BENCHES = new Set(['main.ts', 'figure.ts']);
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !NOT_BENCHES.has(file))
  .map((file) => file.slice(0, -'.ts'.length));

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !names.includes(name));
if (wanted.includes('--help') || unknown.length > 0) {
  process.stderr.write(`npm run bench -- [name …]   one JSON line a figure; names: ${names.join(', ')}\n`);
  process.exit(unknown.length > 0 && !wanted.includes('--help') ? 2 : 0);
}

for (const name of wanted.length > 0 ? wanted : names) {
  const bench = (await import(`./${name}.ts`)) as { figures(): AsyncGenerator<Figure> };
  for await (const figure of bench.figures()) {
    process.stdout.write(
      `${JSON.stringify({ ...figure, ratio: round(figure.ratio), ours: round(figure.ours), theirs: round(figure.theirs) })}\n`,
    );
  }
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}
