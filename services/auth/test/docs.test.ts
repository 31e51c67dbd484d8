import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { codeIn, startSubject } from './harness.ts';

const page = readFileSync(new URL('../../../docs/api/auth.md', import.meta.url), 'utf8');

/** One example: a request line, perhaps a header, perhaps a body, and the status after the arrow. */
interface Example {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
  status: number;
}

function readExamples(known: (name: string) => string): (() => Example)[] {
  return [...page.matchAll(/```http\n([\s\S]*?)\n```/g)].map(([, text = '']) => () => {
    const lines = text.replace(/\{(\w+)\}/g, (_, name: string) => known(name)).split('\n');
    const [method = '', path = ''] = (lines[0] ?? '').split(' ');
    const header = /^(\w+): (.+)$/.exec(lines.find((line) => /^\w+: /.test(line)) ?? '');
    return {
      method,
      path,
      headers: header === null ? {} : { [header[1] as string]: header[2] as string },
      body: lines.find((line) => line.startsWith('{')),
      status: Number(/^→ (\d+)$/.exec(lines.at(-1) ?? '')?.[1]),
    };
  });
}

test('every example of docs/api/auth.md is answered as it says, and every endpoint has one', async () => {
  await using subject = await startSubject();
  const values = new Map<string, string>();
  const examples = readExamples((name) => values.get(name) ?? `{${name}}`);
  const seen = new Set<string>();
  for (const example of examples) {
    const { method, path, headers, body, status } = example();
    const answer = await subject.send(method, path, body, headers);
    expect([method, path, answer.status, answer.text]).toEqual([method, path, status, answer.text]);
    for (const [name, value] of Object.entries(answer.body))
      if (typeof value === 'string') values.set(name, value);
    values.set('code', codeIn((await subject.mails()).at(-1)));
    seen.add(`${method.toLowerCase()} ${path.split('?', 1)[0] ?? ''}`);
  }
  const { body } = await subject.get('/openapi.json');
  const served = Object.entries(body['paths'] as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  expect([...seen].sort()).toEqual(served.sort());
});
