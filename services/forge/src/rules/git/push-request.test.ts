import { describe, expect, it } from 'vitest';
import { branchOf, kindOf, packetLine, readPushLine } from './push-request.ts';

const NONE = '0'.repeat(40);
const ONE = '1'.repeat(40);

describe('readPushLine', () => {
  it('commands, the first with what the client can', () => {
    expect(readPushLine(Buffer.from(`${NONE} ${ONE} refs/heads/ü\0 report-status atomic\n`))).toEqual({
      command: { ref: 'refs/heads/ü', before: NONE, after: ONE },
      capabilities: 'report-status atomic',
    });
    expect(readPushLine(Buffer.from(`${ONE} ${NONE} refs/heads/x\n`))).toEqual({
      command: { ref: 'refs/heads/x', before: ONE, after: NONE },
      capabilities: undefined,
    });
    expect(readPushLine(Buffer.from(`shallow ${ONE}`))).toEqual({ shallow: ONE });
  });

  it.each([
    'hello',
    `${NONE} ${ONE}`,
    `${NONE} ${ONE} `,
    `${NONE} ${ONE.slice(1)} refs/heads/x`,
    `${NONE.replace('0', 'g')} ${ONE} refs/heads/x`,
    'push-cert',
    'shallow x',
  ])('not %s', (line) => expect(readPushLine(Buffer.from(line))).toBeUndefined());

  it('nor names that are no text', () => {
    const line = Buffer.from(`${NONE} ${ONE} refs/heads/?`);
    line[line.length - 1] = 255;
    expect(readPushLine(line)).toBeUndefined();
  });
});

it.each([
  [NONE, ONE, 'create'],
  [ONE, NONE, 'delete'],
  [ONE, '2'.repeat(40), 'update'],
])('%s to %s is %s', (before, after, kind) => expect(kindOf({ ref: 'x', before, after })).toBe(kind));

it('lines and branches', () => {
  expect(packetLine('a\n').toString()).toBe('0006a\n');
  expect(branchOf('refs/heads/a/b')).toBe('a/b');
  expect(branchOf('refs/tags/a')).toBeUndefined();
  expect(branchOf('refs/heads/')).toBeUndefined();
});
