import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isBranchName } from './branch-name.ts';

describe('branch names', () => {
  it.each([
    'main',
    'feature/one',
    'my/refs/x',
    'refs',
    'a.b',
    'ä',
    'x-gabc1234',
    'a@b',
    '"q"',
    'head',
    'HEADS',
    'x/HEAD',
  ])('allows %s', (name) => {
    expect(isBranchName(name)).toBe(true);
  });
  it.each([
    '',
    '@',
    'HEAD',
    '-x',
    '--all',
    'a..b',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
    'a@{0}',
    '/a',
    'a/',
    'a//b',
    'a.',
    '.a',
    'a/.b',
    'a.lock',
    'a.lock/b',
    'a\u0000',
    'a\n',
    'a\u007f',
    'x'.repeat(256),
    '長'.repeat(84),
    'refs/heads/main',
    'refs/x',
  ])('refuses %j', (name) => {
    expect(isBranchName(name)).toBe(false);
  });

  it('allows nothing that git refuses', () => {
    const text = fc.string({
      unit: fc.constantFrom(
        'a',
        'b',
        '.',
        '/',
        '@',
        '{',
        '}',
        '~',
        '^',
        ':',
        '-',
        '\\',
        ' ',
        '*',
        '?',
        '[',
        'lock',
      ),
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(text, (name) => {
        if (!isBranchName(name)) return;
        execFileSync('git', ['check-ref-format', `refs/heads/${name}`]);
      }),
      { numRuns: 300 },
    );
  });
});
