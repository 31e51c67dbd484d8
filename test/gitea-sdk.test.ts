import { join } from 'node:path';
import { skipWithout } from '@croft/testing';
import { expect, it } from 'vitest';
import { accessToken, forgeForClients } from './support/forge.ts';
import { findGo, runClient } from './support/programs.ts';

// The Go SDK of Gitea, which tea, Drone and others are made with: test/clients/gitea-sdk is a program of its own in Go.
// left-out.txt beside it lists the methods of the SDK that its day does without.

const program = join(import.meta.dirname, 'clients/gitea-sdk');

it('the Go SDK of Gitea does a day’s work', { timeout: 300_000 }, async (context) => {
  const go = findGo(program) ?? skipWithout(context, 'Go 1.26 or later');
  await using forge = await forgeForClients();
  const printed = await runClient(go, ['test', '-count=1', '-v', '.'], {
    cwd: program,
    env: {
      GOTOOLCHAIN: 'local',
      CROFT_URL: forge.address,
      CROFT_ADA: accessToken('ada'),
      CROFT_BEN: accessToken('ben'),
      CROFT_ROOT: accessToken('root', 'service_role'),
    },
  });
  expect(printed).toMatch(/^3\d\d methods of the SDK were answered$/m);
});
