import { expect, test } from 'vitest';
import { moduleOfCalls, TypeProject } from './types-calls.ts';

// How long it takes is measured by `npm run bench -- endpoint-types`.
test('200 calls of 200 routes compile', async () => {
  await using project = await TypeProject.create({ 'calls.ts': moduleOfCalls(true) });
  expect(await project.check()).toEqual([]);
});

test('and each of 200 misspelt ones is an error', async () => {
  const text = moduleOfCalls(false);
  await using project = await TypeProject.create({ 'calls.ts': text });
  const errors = await project.check();
  expect(errors).toHaveLength(200);
  const lines = errors.map((error) => Number(/^calls\.ts\((\d+),/.exec(error)?.[1]));
  const calls = text.split('\n').flatMap((line, i) => (/^(endpoint|forge)\(/.test(line) ? [i + 1] : []));
  expect(lines).toEqual(calls);
});
