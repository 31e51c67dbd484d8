import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { TypeProject } from './types-calls.ts';

// readme.test.ts runs them; Node takes the types away unread.
test('the examples of the README are right about their types', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const examples = [...readme.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = '']) => code);
  expect(examples.length).toBeGreaterThan(7);
  const modules = examples.map((code, i) => [
    `example-${i + 1}.ts`,
    `import assert from 'node:assert/strict';\n${code}`,
  ]);
  await using project = await TypeProject.create(Object.fromEntries(modules));
  expect(await project.check()).toEqual([]);
});
