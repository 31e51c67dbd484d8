import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, testDatabase } from '@croft/testing';
import { expect, it } from 'vitest';
import { placeFor, root, startCroft } from './support/croft.ts';

// Building the image takes a registry of images, so what it holds is tried without one.
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
const settings = Object.fromEntries(
  (/^ENV (.*)$/m.exec(dockerfile)?.[1] ?? '').split(' ').map((pair) => pair.split('=') as [string, string]),
);
const commandOf = (instruction: RegExp) => JSON.parse(instruction.exec(dockerfile)?.[1] ?? '') as string[];

it('has settings of its own that exist, and opens the data folder and both ports', () => {
  const documented = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
  for (const name of Object.keys(settings)) expect(documented).toContain(`\`${name}\``);
  expect(dockerfile).toContain(`VOLUME ${settings['CROFT_DATA']}`);
  expect(documented).toMatch(/^\| `AUTHSVC_API_PORT`.*`8081`/m);
  expect(documented).toMatch(/^\| `FORGE_HTTP_PORT`.*`3000`/m);
  expect(dockerfile).toContain('EXPOSE 8081 3000');
});

const migrations = new URL(`file://${root}/services/forge/migrations/`);

it.each(['embedded', 'own'])(
  'starts auth and forge on the %s database, and its health check tells whether they answer',
  async (which) => {
    await using folder = await temporaryFolder();
    await using database = await testDatabase({ schema: 'other', migrations });
    const { CROFT_DATA: _, ...hosts } = settings;
    const own = which === 'own' ? { DATABASE_URL: database.url } : {};
    const place = await placeFor(join(folder.path, 'data'), { ...hosts, ...own });
    const check = commandOf(/^HEALTHCHECK .*CMD (\[.*\])$/m).map((word) =>
      word.replace('8081/', `${place.authPort}/`).replace('3000/', `${place.forgePort}/`),
    );
    const isHealthy = () => spawnSync(check[0] as string, check.slice(1), { timeout: 20_000 }).status === 0;
    const croft = await startCroft({ ...place, command: commandOf(/^CMD (\[.*\])$/m) });
    try {
      expect(croft.printed).not.toContain('state ');
      expect(isHealthy()).toBe(true);
    } finally {
      expect(await croft.stop()).toBe(0);
    }
    expect(isHealthy()).toBe(false);
  },
);
