import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { gitEnvironment, hasProgram, skipWithout } from '@croft/testing';
import { expect, it } from 'vitest';
import { accessToken, forgeForClients } from './support/forge.ts';
import { runClient } from './support/programs.ts';

// git-credential-oauth gives git the token that a browser brings back, from an address that it prints.

// oxlint-disable-next-line node/no-process-env -- where programs are
const { PATH = '' } = process.env;

/** A browser of somebody who says yes. */
async function allow(question: string, person: { name: string; password: string }): Promise<void> {
  const page = await fetch(question);
  expect(page.status).toBe(200);
  const fields = new URL(question).searchParams;
  fields.set('user_name', person.name);
  fields.set('password', person.password);
  fields.set('decision', 'allow');
  const answer = await fetch(new URL('grant', question), { method: 'POST', body: fields });
  expect(answer.status).toBe(200);
  const [, target = ''] = /http-equiv="refresh" content="0;url=([^"]*)"/.exec(await answer.text()) ?? [];
  // What the helper, to which it leads, tells its user.
  expect((await fetch(target.replaceAll('&amp;', '&'))).status).toBe(200);
}

it('git clones what is private with git-credential-oauth', async (context) => {
  if (!hasProgram('git-credential-oauth')) skipWithout(context, 'git-credential-oauth');
  await using forge = await forgeForClients();
  const { address, folder } = forge;
  const password = accessToken('ada');
  const made = await fetch(`${address}/api/v1/user/repos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${password}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'garden', private: true, auto_init: true }),
  });
  expect(made.status).toBe(201);
  // Newer ones of git and of the helper know all of it by the realm.
  const settings = {
    helper: '',
    [`${address}.helper`]: 'oauth',
    [`${address}.oauthClientId`]: 'a4792ccc-144e-407e-86c9-5e7d8d9c3269',
    [`${address}.oauthScopes`]: 'read:user write:repository',
    [`${address}.oauthAuthURL`]: '/login/oauth/authorize',
    [`${address}.oauthTokenURL`]: '/login/oauth/access_token',
  };
  const given = Object.entries(settings).flatMap(([name, value]) => ['-c', `credential.${name}=${value}`]);
  // It starts a browser besides, where the machine has one.
  await writeFile(join(folder, 'open'), '#!/bin/sh\n', { mode: 0o755 });
  const env = { ...gitEnvironment, PATH: `${folder}${delimiter}${PATH}`, HOME: folder };
  const clone = spawn('git', [...given, 'clone', '-q', `${address}/ada/garden.git`], { cwd: folder, env });
  const ended = once(clone, 'close');
  const said: string[] = [];
  for await (const line of createInterface({ input: clone.stderr })) {
    said.push(line);
    if (line.startsWith(`${address}/login/oauth/`)) await allow(line, { name: 'ada', password });
  }
  expect({ said, ended: await ended }).toMatchObject({ ended: [0, null] });
  const shown = await runClient('git', ['log', '--format=%an'], {
    cwd: join(folder, 'garden'),
    env: { PATH },
  });
  expect(shown.trim()).toBe('ada');
});
