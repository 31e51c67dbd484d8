import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { outgoingHttp } from '@croft/http/outgoing';
import type { Log } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { type FixedClock, fixedClock, temporaryFolder } from '@croft/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type MailTemplates, openTemplates } from '../src/outside/mail/templates.ts';
import type { MailData, MailKind } from '../src/rules/mail/mail-kinds.ts';
import { authSettings } from '../src/settings.ts';

const TEMPLATE = '<p>Hi {{ .Email }}: <a href="{{ .ConfirmationURL }}">go</a></p>';
const stack = new AsyncDisposableStack();
const clock: FixedClock = fixedClock();
let site: string;
let folder: string;
/** What the site answers, and what it was asked. */
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let asked: string[];
let lines: { level: string; fields: object; message: string }[];

const data: MailData = {
  siteUrl: 'https://site.example',
  confirmationUrl: 'https://auth.example/verify?token=abc&type=signup&redirect_to=https://site.example',
  email: 'ada@example.com',
  token: '012345',
  tokenHash: 'abc',
  data: { name: 'Ada' },
  redirectTo: 'https://site.example',
  newEmail: 'new@example.com',
  sendingTo: 'ada@example.com',
};

beforeAll(async () => {
  ({ path: folder } = stack.use(await temporaryFolder()));
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  asked = [];
  lines = [];
  answer = (_, response) => response.end(TEMPLATE);
});

function open(environment: Record<string, string>): MailTemplates {
  const settings = readSettings(authSettings, {
    AUTHSVC_SITE_URL: `${site}/app`,
    AUTHSVC_API_EXTERNAL_URL: 'https://auth.example',
    AUTHSVC_JWT_SECRET: 'a-secret-of-the-tests-that-nobody-else-has',
    ...environment,
  });
  const write =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push({ level, fields, message });
  const log: Log = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => log,
  };
  const http = outgoingHttp({ userAgent: 'test', trusted: [site] });
  return openTemplates(settings, http, log, clock);
}

const never = new AbortController().signal;
const htmlOf = async (templates: MailTemplates, kind: MailKind = 'confirmation'): Promise<string> =>
  (await templates.render(kind, data, never)).html;
const isBuiltIn = (html: string): boolean => html.startsWith('<h2>');
const WRITTEN =
  '<p>Hi ada@example.com: <a href="https://auth.example/verify?token=abc&amp;type=signup&amp;redirect_to=https://site.example">go</a></p>';

describe('where a template comes from', () => {
  test('a URL, asked for once for many mails; the text part is made from it', async () => {
    const templates = open({ AUTHSVC_MAILER_TEMPLATES_CONFIRMATION: `${site}/a/b.html?v=1` });
    const mails = await Promise.all(
      Array.from({ length: 5 }, () => templates.render('confirmation', data, never)),
    );
    expect(mails.map(({ html }) => html)).toEqual(Array.from({ length: 5 }, () => WRITTEN));
    expect(mails[0]?.text).toBe(`Hi ada@example.com: go:\n${data.confirmationUrl}\n`);
    expect(mails[0]?.subject).toBe('Confirm Your Signup');
    expect(asked).toEqual(['GET /a/b.html?v=1']);
  });

  test.each(['/mails/confirm.html', 'mails/confirm.html'])(
    'the path %j counts against SITE_URL',
    async (path) => {
      expect(await htmlOf(open({ AUTHSVC_MAILER_TEMPLATES_CONFIRMATION: path }))).toBe(WRITTEN);
      expect(asked).toEqual(['GET /app/mails/confirm.html']);
    },
  );

  test('a page of the site under that path is no template', async () => {
    answer = (_, response) =>
      response.end('<!doctype html><div id="app"></div><script src="/app.js"></script>');
    expect(isBuiltIn(await htmlOf(open({ AUTHSVC_MAILER_TEMPLATES_CONFIRMATION: '/confirm.html' })))).toBe(
      true,
    );
    expect(lines).toHaveLength(1);
    expect(lines[0]?.fields).toMatchObject({ setting: 'AUTHSVC_MAILER_TEMPLATES_CONFIRMATION' });
  });

  test('a file, by its path or as a URL', async () => {
    const file = join(folder, 'a template.html');
    await writeFile(file, TEMPLATE);
    for (const setting of [file, pathToFileURL(file).href]) {
      expect(await htmlOf(open({ AUTHSVC_MAILER_TEMPLATES_CONFIRMATION: setting }))).toBe(WRITTEN);
    }
    expect(asked).toEqual([]);
  });

  test('a folder, a device or a file that is too large is none', async () => {
    const large = join(folder, 'large.html');
    await writeFile(large, `${TEMPLATE}${' '.repeat(2_000)}`);
    await mkdir(join(folder, 'mails'), { recursive: true });
    for (const setting of [join(folder, 'mails'), '/dev/zero', 'file:///no/such/file', large]) {
      const templates = open({
        AUTHSVC_MAILER_TEMPLATES_CONFIRMATION: setting,
        AUTHSVC_MAILER_TEMPLATE_MAX_SIZE: '1000',
      });
      expect(isBuiltIn(await htmlOf(templates))).toBe(true);
    }
    expect(asked).toEqual([]);
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn', 'warn']);
  });

  test('each kind has its own, and only what the settings name is asked for', async () => {
    answer = (request, response) => response.end(`${request.url} {{ .Token }}`);
    const templates = open({
      AUTHSVC_MAILER_TEMPLATES_INVITE: `${site}/invite`,
      AUTHSVC_MAILER_TEMPLATES_CONFIRMATION: `${site}/confirmation`,
      AUTHSVC_MAILER_TEMPLATES_RECOVERY: `${site}/recovery`,
      AUTHSVC_MAILER_TEMPLATES_MAGIC_LINK: `${site}/magic_link`,
      AUTHSVC_MAILER_TEMPLATES_EMAIL_CHANGE: `${site}/email_change`,
      AUTHSVC_MAILER_TEMPLATES_REAUTHENTICATION: `${site}/reauthentication`,
    });
    const kinds = [
      'invite',
      'confirmation',
      'recovery',
      'magic_link',
      'email_change',
      'reauthentication',
    ] as const;
    for (const kind of kinds) {
      const bad = {
        ...data,
        email: `${site}/evil`,
        data: { url: `${site}/evil` },
        redirectTo: `${site}/evil`,
      };
      expect((await templates.render(kind, bad, never)).html).toBe(`/${kind} 012345`);
    }
    expect(asked).toEqual(kinds.map((kind) => `GET /${kind}`));
  });

  test('a redirect to another server is not followed', async () => {
    answer = (_, response) => response.writeHead(302, { location: 'http://127.0.0.2:1/' }).end();
    expect(isBuiltIn(await htmlOf(open({ AUTHSVC_MAILER_TEMPLATES_CONFIRMATION: `${site}/x` })))).toBe(true);
  });
});

describe('a source that is away', () => {
  const settings = (): Record<string, string> => ({ AUTHSVC_MAILER_TEMPLATES_CONFIRMATION: `${site}/t` });

  test.each<[string, typeof answer]>([
    ['answers 404', (_, response) => response.writeHead(404).end('<h1>Not {{ .Found }}</h1>')],
    ['answers 500', (_, response) => response.writeHead(500).end()],
    ['hangs up', (request) => request.socket.destroy()],
    ['answers without end', (_, response) => void response.write(TEMPLATE + 'x'.repeat(2_000_000))],
  ])('%s: the built-in mail is sent, and it is tried again later', async (_, failing) => {
    answer = failing;
    const templates = open(settings());
    expect(isBuiltIn(await htmlOf(templates))).toBe(true);
    expect(isBuiltIn(await htmlOf(templates))).toBe(true);
    expect(asked).toHaveLength(1);
    expect(lines).toHaveLength(1);
    answer = (_request, response) => response.end(TEMPLATE);
    clock.advance(9_999);
    expect(isBuiltIn(await htmlOf(templates))).toBe(true);
    clock.advance(1);
    expect(await htmlOf(templates)).toBe(WRITTEN);
    expect(asked).toHaveLength(2);
  });

  test('a template is fetched again after its time, and the old one serves while there is no new one', async () => {
    const templates = open({ ...settings(), AUTHSVC_MAILER_TEMPLATE_MAX_AGE: '1m' });
    expect(await htmlOf(templates)).toBe(WRITTEN);
    answer = (_, response) => response.writeHead(503).end();
    clock.advance(59_999);
    expect(await htmlOf(templates)).toBe(WRITTEN);
    expect(asked).toHaveLength(1);
    clock.advance(1);
    expect(await htmlOf(templates)).toBe(WRITTEN);
    expect(asked).toHaveLength(2);
    expect(lines.map(({ fields }) => fields)).toEqual([
      {
        setting: 'AUTHSVC_MAILER_TEMPLATES_CONFIRMATION',
        kind: 'confirmation',
        reason: 'it was answered with status 503',
        sentInstead: 'the one of before',
      },
    ]);
    answer = (_, response) => response.end('new {{ .Token }}');
    clock.advance(10_000);
    expect(await htmlOf(templates)).toBe('new 012345');
  });
});

describe('a template that cannot be used', () => {
  test.each([
    '{{ if }}',
    '{{ .Email',
    '<script>{{ .Token }}</script>',
    '<a href="{{ .ConfirmationURL }}',
    '{{ range .Data.list }}{{ range $.Data.list }}{{ range $.Data.list }}x{{ end }}{{ end }}{{ end }}',
  ])('%j gives way to the built-in one and is named once', async (source) => {
    answer = (_, response) => response.end(source);
    const templates = open({ AUTHSVC_MAILER_TEMPLATES_CONFIRMATION: `${site}/bad` });
    const long = { ...data, data: { list: Array.from({ length: 1_000 }, () => 'x') } };
    for (let mail = 0; mail < 3; mail++) {
      expect(isBuiltIn((await templates.render('confirmation', long, never)).html)).toBe(true);
      clock.advance(600_000);
    }
    expect(asked).toHaveLength(3);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: 'error', fields: { kind: 'confirmation' } });
    // What mails say is nobody's business but their readers'.
    expect(JSON.stringify(lines)).not.toMatch(/012345|ada@example|auth\.example/);
    answer = (_, response) => response.end(`${source} {{ end }}`);
    clock.advance(600_000);
    expect(isBuiltIn((await templates.render('confirmation', long, never)).html)).toBe(true);
    expect(lines).toHaveLength(2);
  });

  test('a subject likewise, at start', async () => {
    const templates = open({ AUTHSVC_MAILER_SUBJECTS_RECOVERY: 'Hello {{ .Email' });
    expect(lines).toHaveLength(1);
    expect((await templates.render('recovery', data, never)).subject).toBe('Reset Your Password');
    expect(lines).toHaveLength(1);
  });
});

test('subjects are templates of one line', async () => {
  const templates = open({
    AUTHSVC_MAILER_SUBJECTS_REAUTHENTICATION:
      '{{ .Token }} is the code of {{ .Data.name }} {{ .ConfirmationURL }}',
    AUTHSVC_MAILER_SUBJECTS_INVITE: '{{ .Data.nothing }}',
  });
  const name = 'Ada\r\nBcc: all@example.com\n\n<b>';
  const { subject } = await templates.render('reauthentication', { ...data, data: { name } }, never);
  expect(subject).toBe('012345 is the code of Ada Bcc: all@example.com <b>');
  expect((await templates.render('invite', data, never)).subject).toBe('You have been invited');
});

test('an aborted delivery does not write', async () => {
  const templates = open({ AUTHSVC_MAILER_TEMPLATES_CONFIRMATION: `${site}/t` });
  await expect(templates.render('confirmation', data, AbortSignal.abort(new Error('late')))).rejects.toThrow(
    'late',
  );
  expect(asked).toEqual([]);
});
