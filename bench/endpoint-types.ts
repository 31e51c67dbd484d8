import { moduleOfCalls, moduleWithoutCalls, TypeProject } from '../packages/endpoint/test/types-calls.ts';
import { type Figure, median } from './figure.ts';

const LIMIT_SECONDS = 0.5;
const ROUNDS = 15;

/** Seconds that 200 typed calls add to type checking a project, half of them of the forge's routes. */
export async function* figures(): AsyncGenerator<Figure> {
  await using plain = await TypeProject.create({ 'calls.ts': moduleWithoutCalls });
  await using typed = await TypeProject.create({ 'calls.ts': moduleOfCalls(true) });
  await time(plain);
  await time(typed);
  const added: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const without = await time(plain);
    added.push((await time(typed)) - without);
  }
  const seconds = median(added);
  yield {
    bench: 'endpoint-types',
    figure: 'type checking 200 calls',
    // Noise may say that they cost nothing.
    ratio: LIMIT_SECONDS / Math.max(seconds, 0.001),
    ours: seconds,
    theirs: LIMIT_SECONDS,
    unit: 's more',
    limit: '≥ 1',
  };
}

async function time(project: TypeProject): Promise<number> {
  const start = performance.now();
  const errors = await project.check();
  if (errors.length > 0) throw new Error(errors.join('\n'));
  return (performance.now() - start) / 1000;
}
