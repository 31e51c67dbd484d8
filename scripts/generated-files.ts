import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configurationPage } from './configuration-page.ts';
import { forgeRoutes } from './forge-routes.ts';
import { rowTypes } from './row-types.ts';

const root = new URL('../', import.meta.url);
const TABLE_OWNERS = ['auth', 'forge'].map((name) => ({
  path: `services/${name}/src/tables.gen.ts`,
  schema: name,
  migrations: new URL(`services/${name}/migrations/`, root),
}));

/** Makes every file whose text follows from the code and writes it, or names those that differ from what is checked in. */
export async function generatedFiles(options: { write: boolean }): Promise<string> {
  const [page, routes, rows] = await Promise.all([
    configurationPage(),
    forgeRoutes(),
    rowTypes(TABLE_OWNERS),
  ]);
  const made = [
    { path: 'docs/configuration.md', text: page },
    { path: 'packages/endpoint/src/forge-routes.gen.ts', text: routes },
    ...TABLE_OWNERS.map(({ path }, index) => ({ path, text: rows[index] ?? '' })),
  ];
  const stale: string[] = [];
  for (const { path, text } of made) {
    const file = join(import.meta.dirname, '..', path);
    if (options.write) await writeFile(file, text);
    else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
      stale.push(`${path} is stale: run npm run generate`);
    }
  }
  return stale.join('\n');
}
