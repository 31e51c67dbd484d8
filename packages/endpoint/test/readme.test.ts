import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const blocks = [...readme.matchAll(/^(#+ .*)$|^```(?:ts|js)\n([^]*?)^```$/gm)];
// Inside the package, so that its own name resolves
const folder = mkdtempSync(join(import.meta.dirname, '.readme-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the examples of the README run', () => {
  let heading = '';
  let count = 0;
  for (const [, title, code] of blocks) {
    if (title) heading = title.replace(/^#+ /, '');
    if (code === undefined) continue;
    count += 1;
    const file = join(folder, `example-${count}.ts`);
    test(heading, () => {
      writeFileSync(file, `import assert from 'node:assert/strict';\n${code}`);
      execFileSync(process.execPath, [file], { stdio: 'pipe' });
    });
  }

  test('there are some', () => expect(count).toBeGreaterThan(7));
});
