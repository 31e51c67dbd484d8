import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configurationPage } from './configuration-page.ts';

/** A file whose text follows from the code. */
const FILES: readonly { path: string; make: () => Promise<string> }[] = [
  { path: 'docs/configuration.md', make: configurationPage },
];

/** Makes every generated file and writes it, or names those that differ from what is checked in. */
export async function generatedFiles(options: { write: boolean }): Promise<string> {
  const stale: string[] = [];
  for (const { path, make } of FILES) {
    const file = join(import.meta.dirname, '..', path);
    const made = await make();
    if (options.write) await writeFile(file, made);
    else if ((await readFile(file, 'utf8').catch(() => '')) !== made)
      stale.push(`${path} is stale: run npm run generate`);
  }
  return stale.join('\n');
}
