import { describe, expect, test } from 'vitest';
import { endpoint, expand } from '../src/index.ts';

describe('100,000 characters of any shape take at most 300 ms', () => {
  const n = 100_000;
  const patterns = [
    '{',
    '}',
    '{a}',
    '{a',
    ':aa',
    ':a',
    ':',
    '{a,b}',
    '{?a}',
    '%',
    '%4',
    '%41',
    '/',
    '/.',
    '/..',
    '/../',
    '.',
    ' ',
    '\t',
    '\n',
    'a-',
    '-preview',
    'a.v1',
    '.v1',
    '.v1111',
    '+',
    ',',
    ';',
    '#',
    '?',
    '&',
    '://',
    'a:',
    'ä',
    '\ud83d\ude00',
    '\0',
    'a!a',
    '{/a}',
    '{+a}',
    '{a.',
    '.a',
    'application/vnd.',
    'application/vnd.a',
    '{a:1',
    '{a%41',
  ];
  // Processor time of this thread, so that other work on the machine does not count
  const timed = (call: () => unknown): void => {
    const before = process.threadCpuUsage();
    try {
      call();
    } catch (error) {
      expect(String(error)).toMatch(/^EndpointError: \S+ at \d+: .{1,60}$/);
    }
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(300);
  };

  test.each(patterns)('%j repeated', (pattern) => {
    const text = pattern.repeat(Math.ceil(n / pattern.length)).slice(0, n);
    timed(() => endpoint(text, { a: 'b' }));
    timed(() => endpoint(`GET /${text}`, { a: '..' }));
    timed(() => endpoint(`https://${text}`));
    timed(() => endpoint(`https://h/../{a}${text}`, { a: '..' }));
    timed(() => expand(text, { a: ['b'] }));
    timed(() => expand('{a}{+a}{?a*}', { a: text }));
    timed(() => expand('{a:9999}{+a:9999}', { a: text }));
    timed(() => expand(`{${text}`, {}));
    timed(() => endpoint('/x/{+a}', { a: text, q: text, [text]: text }));
    timed(() => endpoint({ url: '/x', baseUrl: `http://h/${text}` }));
    timed(() => endpoint('/x', { headers: { [text]: text } }));
    timed(() =>
      endpoint('POST /graphql', { headers: { accept: text }, mediaType: { format: text, previews: [text] } }),
    );
    timed(() =>
      endpoint('/x', { headers: { accept: `application/vnd.${text}` }, mediaType: { format: 'raw' } }),
    );
  });

  test('as many options, names and placeholders', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, i]));
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
  });
});
