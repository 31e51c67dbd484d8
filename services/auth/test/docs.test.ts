import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { accessTokens } from '@croft/access-token';
import { expect, test } from 'vitest';
import { codeIn, JWT_SECRET, type Subject, startSubject } from './harness.ts';

const page = readFileSync(new URL('../../../docs/api/auth.md', import.meta.url), 'utf8');

/** One example: a request line, perhaps a header, perhaps a body, and the status after the arrow. */
interface Example {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
  status: number;
}

/** Examples that share a service. */
interface Group {
  /** The text of the directive, such as `AUTHSVC_EXTERNAL_PHONE_ENABLED=true`; empty for the service as it comes. */
  environment: string;
  examples: string[];
}

/**
 * The examples of the page in its order. A section that needs other settings says so with
 * `<!-- with NAME=value NAME=value -->`; sections that say the same share one service.
 */
function readGroups(): Group[] {
  const groups = new Map<string, string[]>();
  for (const section of page.split(/^(?=#{2,3} )/m)) {
    const environment = /<!-- with (.+?) -->/.exec(section)?.[1] ?? '';
    const examples = [...section.matchAll(/```http\n([\s\S]*?)\n```/g)].map(([, text = '']) => text);
    if (examples.length > 0) groups.set(environment, [...(groups.get(environment) ?? []), ...examples]);
  }
  return [...groups].map(([environment, examples]) => ({ environment, examples }));
}

function readExample(text: string, known: (name: string) => string): Example {
  const lines = text.replace(/\{(\w+)\}/g, (_, name: string) => known(name)).split('\n');
  const [method = '', path = ''] = (lines[0] ?? '').split(' ');
  const header = /^([\w-]+): (.+)$/.exec(lines.find((line) => /^[\w-]+: /.test(line)) ?? '');
  return {
    method,
    path,
    headers: header === null ? {} : { [header[1] as string]: header[2] as string },
    body: lines.find((line) => line.startsWith('{')),
    status: Number(/^→ (\d+)$/.exec(lines.at(-1) ?? '')?.[1]),
  };
}

/** What stands for `{name}`: members of the answers so far, codes of what was sent, and a token for administrators. */
async function learn(
  subject: Subject,
  values: Map<string, string>,
  body: Record<string, unknown>,
): Promise<void> {
  const { user } = body;
  const found = {
    ...body,
    ...(typeof user === 'object' ? { user_id: (user as { id?: unknown } | null)?.id } : {}),
  };
  for (const [name, value] of Object.entries(found)) if (typeof value === 'string') values.set(name, value);
  const mail = (await subject.mails()).at(-1);
  if (mail !== undefined) values.set('code', codeIn(mail));
  const link = /https?:\/\/\S+\/verify\?\S+/.exec(mail?.text ?? '')?.[0];
  if (link !== undefined) values.set('token', new URL(link).searchParams.get('token') ?? '');
  const message = capturedMessages(subject).at(-1);
  if (message !== undefined) values.set('sms_code', /\d{6,}/.exec(message)?.[0] ?? '');
}

/** Text messages lie beside the mails, when no provider is set. */
function capturedMessages(subject: Subject): string[] {
  const folder = join(subject.dataFolder, 'sms');
  try {
    // By the machine's time: the test's own clock stands still.
    return readdirSync(folder)
      .map((name) => join(folder, name))
      .sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs)
      .map((file) => readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function adminToken(subject: Subject): string {
  const now = subject.clock.now().getTime();
  const exp = Math.floor(now / 1000) + 3600;
  return accessTokens(JWT_SECRET, () => now).sign({ role: 'service_role', exp });
}

/** `METHOD path` of each example that was run, so that endpoints without one are found. */
const seen = new Set<string>();

test.each(readGroups())(
  'the examples of docs/api/auth.md are answered as they say: $environment',
  async (group) => {
    const settings = group.environment === '' ? [] : group.environment.split(' ');
    await using subject = await startSubject(
      Object.fromEntries(settings.map((setting) => setting.split(/=(.*)/s).slice(0, 2))),
    );
    const values = new Map([['admin_token', adminToken(subject)]]);
    for (const text of group.examples) {
      const example = readExample(text, (name) => values.get(name) ?? `{${name}}`);
      const { method, path, headers, body, status } = example;
      const answer = await subject.send(method, path, body, headers);
      expect([method, path, answer.status, answer.text]).toEqual([method, path, status, answer.text]);
      seen.add(`${method.toLowerCase()} ${path.split('?', 1)[0] ?? ''}`);
      await learn(subject, values, answer.body);
    }
  },
);

test('every endpoint has an example and every example an endpoint', async () => {
  await using subject = await startSubject();
  const { body } = await subject.get('/openapi.json');
  const served = Object.entries(body['paths'] as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  const isExampleOf = (endpoint: string) => {
    const pattern = endpoint.split(/\{\w+\}/).map((part) => part.replaceAll('.', '\\.'));
    return (example: string) => new RegExp(`^${pattern.join('[^/]+')}$`).test(example);
  };
  expect(served.filter((endpoint) => ![...seen].some(isExampleOf(endpoint)))).toEqual([]);
  expect([...seen].filter((example) => !served.some((endpoint) => isExampleOf(endpoint)(example)))).toEqual(
    [],
  );
});
