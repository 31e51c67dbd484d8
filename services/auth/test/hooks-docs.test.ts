import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@croft/runtime';
import { temporaryFolder } from '@croft/testing';
import { expect, test } from 'vitest';
import { allHooks } from '../src/rules/hooks/hook-names.ts';
import { type AnswerBody, PASSWORD, someone, startSubject } from './harness.ts';

// The examples of docs/api/auth-hooks.md are run as they stand there.

const page = readFileSync(new URL('../../../docs/api/auth-hooks.md', import.meta.url), 'utf8');
const block = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? '';

test('every hook is in the table and has its section', () => {
  for (const name of allHooks.map((hook) => hook.toUpperCase())) {
    expect(page).toContain(`| \`${name}\` |`);
    expect(page).toContain(`\n### ${name}\n`);
  }
});

test('the endpoint verifies our requests and adds a claim, and takes no others', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'hook.mjs');
  writeFileSync(file, block('js'));
  const secret = `v1,whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  const hook = spawn(process.execPath, [file], {
    env: { PORT: '0', HOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [port] = (await once(hook.stdout.setEncoding('utf8'), 'data')) as [string];
    const url = `http://127.0.0.1:${port.trim()}/`;
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
    await using subject = await startSubject({
      AUTHSVC_MAILER_AUTOCONFIRM: 'true',
      AUTHSVC_HOOK_CUSTOM_ACCESS_TOKEN_ENABLED: 'true',
      AUTHSVC_HOOK_CUSTOM_ACCESS_TOKEN_URI: url,
      AUTHSVC_HOOK_CUSTOM_ACCESS_TOKEN_SECRETS: secret,
    });
    // The endpoint has the machine's time.
    subject.clock.advance(systemClock.now().getTime() - subject.clock.now().getTime());
    const session = await subject.post('/signup', { email: someone(), password: PASSWORD });
    const claims = String(session.body.access_token).split('.')[1] ?? '';
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ tenant: 'acme' });
  } finally {
    hook.kill();
    await once(hook, 'exit');
  }
});

test('the function lets members in and nobody else', async () => {
  await using subject = await startSubject({
    AUTHSVC_HOOK_BEFORE_USER_CREATED_ENABLED: 'true',
    AUTHSVC_HOOK_BEFORE_USER_CREATED_URI:
      /AUTHSVC_HOOK_BEFORE_USER_CREATED_URI=(pg-functions:[^`\s]+)/.exec(page)?.[1] ?? '',
  });
  await subject.rows.autocommit().script(block('sql'));
  const [, body = '', status] = /\n(\{.*\})\n→ (\d+)/.exec(block('http')) ?? [];
  const refused = await subject.post('/signup', JSON.parse(body) as AnswerBody);
  expect(refused.status).toBe(Number(status));
  expect(refused.body).toMatchObject({ msg: 'Members only' });
  const member = await subject.post('/signup', { email: 'ada@acme.example', password: PASSWORD });
  expect(member.status).toBe(200);
});
