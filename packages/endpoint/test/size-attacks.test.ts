import { describe, expect, test } from 'vitest';
import { endpoint, expand } from '../src/index.ts';

describe('100,000 characters of any shape take at most 300 ms', () => {
  const n = 100_000;
  const patterns =
    `{ } {a {a} {a,b} {?a}{/a}{+a} {a. {a:1 {a%41 .a a!a : :a :aa a: :// / /. /../ . .. % %4 %41 %2e ? # & + , ;`
      .split(' ')
      .concat(' ', '\t', '\n', '\0', 'ä', '\ud83d\ude00', '\ud800');
  const wordPatterns = `vnd. /vnd. /vnd.a application/vnd. .v1 .v1111 a.v1 -preview -preview- a a- . / , ; +`
    .split(' ')
    .concat(' ', '\t');
  // Processor time of this thread, so that other work on the machine does not count
  const timed = (call: () => unknown, what = ''): void => {
    const before = process.threadCpuUsage();
    try {
      call();
    } catch (error) {
      expect(String(error), what).toMatch(/^EndpointError: \S+ at \d+: .{1,60}$/);
    }
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1000, what).toBeLessThan(300);
  };

  // One part of a request each; `a`, the value, is the part that is a parameter.
  const parts: [string, (text: string, a: string) => unknown][] = [
    ['the route', (text, a) => endpoint(text, { a })],
    ['the host', (text) => endpoint({ url: `https://${text}` })],
    ['a template', (text) => expand(text, { a: ['b'] })],
    ['an expression', (text) => expand(`{${text}}`, {})],
    ['one without an end', (text) => expand(`{${text}`, {})],
    ['a value', (a) => endpoint('/x/{a}{?a}', { a, q: a, [a]: a })],
    ['a reserved value', (a) => endpoint('/x/{+a}', { a })],
    ['a prefix', (a) => expand('{a:9999}{+a:9999}', { a })],
    ['the base', (text) => endpoint({ url: '/x', baseUrl: `http://h/${text}` })],
    ['the base and a letter', (text) => endpoint({ url: '/x', baseUrl: `http:${text}a` })],
    ['the method', (text) => endpoint({ url: '/x', method: text })],
    ['a header', (text) => endpoint('/x', { headers: { [text.slice(0, 9)]: text, a: text } })],
  ];
  const wordParts: typeof parts = [
    ['what is behind a host', (text) => endpoint(` https://h/{a}${text}/. `, { a: '..' })],
    ['the method of a route', (text) => endpoint(`GET${text}/x`)],
    ['accept', (accept) => endpoint('/x', { headers: { accept }, mediaType: { format: 'raw' } })],
    ...['', '"', '\\', '\\"'].map((piece): (typeof parts)[number] => [
      `a parameter of accept after ${piece || 'none'}`,
      (text) => {
        const accept = `a/b;p="${piece.repeat(text.length)}${text}`;
        return endpoint('/x', { headers: { accept }, mediaType: { format: 'raw' } });
      },
    ]),
    ...['', '.x-preview', '.v1', '.v1-', '+json'].map((end): (typeof parts)[number] => [
      `a type of accept before ${end}`,
      (text) => endpoint('/x', { headers: { accept: `a/vnd.${text}${end}` }, mediaType: { format: 'raw' } }),
    ]),
    [
      'previews',
      (accept) =>
        endpoint('POST /graphql', {
          headers: { accept },
          mediaType: { format: accept, previews: [accept] },
        }),
    ],
  ];

  test.each([
    ...parts.map(([name, call]) => [name, call, patterns] as const),
    ...wordParts.map(([name, call]) => [name, call, wordPatterns] as const),
  ])('%s, whatever is repeated', (_, call, patterns) => {
    for (const pattern of patterns) {
      const text = pattern.repeat(Math.ceil(n / pattern.length)).slice(0, n);
      timed(() => call(text, 'b'), pattern);
      // and a run of letters around it
      if (pattern.length > 7) timed(() => call(`${'a'.repeat(n / 2)}${pattern}`, 'b'), `aaa…${pattern}`);
    }
  });

  test('as many options, names and placeholders', () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`p${i}`, i]));
    const template = Object.keys(many)
      .map((name) => `{${name}}`)
      .join('/');
    timed(() => endpoint(`/${template}`, many));
    timed(() =>
      endpoint(
        Object.keys(many)
          .map((name) => `/:${name}`)
          .join(''),
        many,
      ),
    );
    timed(() => endpoint('/x', many));
    timed(() => endpoint(`/../${template}`, { ...many, p1: '..' }));
    timed(() => endpoint('/x', { request: { strict: true }, ...many }));
    timed(() => endpoint('/x', { headers: many }));
    timed(() => endpoint.defaults({ headers: many, ...many })('POST /x', many));
    timed(() => endpoint('POST /graphql', { mediaType: { previews: Object.keys(many) } }));
  });
});
