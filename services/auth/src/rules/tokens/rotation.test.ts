import { describe, expect, test } from 'vitest';
import { decideRotation, type FamilyState, type Rotation, type RotationPolicy } from './rotation.ts';

const now = new Date('2026-01-02T03:04:05Z');
const ago = (seconds: number): Date => new Date(now.getTime() - seconds * 1000);
const [oldest, parent, active] = ['oldest', 'parent', 'active'].map((name) => Buffer.from(name)) as [
  Buffer,
  Buffer,
  Buffer,
];

const family: FamilyState = {
  activeHash: active,
  parentHash: parent,
  replacedAt: null,
  revokedAt: null,
  bannedUntilMs: null,
  notAfter: null,
  createdAt: ago(3600),
  refreshedAt: ago(60),
  hasNewer: false,
  isLow: false,
};
const on: RotationPolicy = {
  rotationEnabled: true,
  timeboxMs: 0,
  inactivityMs: 0,
  singlePerUser: false,
  lowAalMs: 0,
};
const lowFor = (seconds: number): RotationPolicy => ({ ...on, lowAalMs: seconds * 1000 });
const off: RotationPolicy = { ...on, rotationEnabled: false };

const table: [rule: string, token: Buffer, family: Partial<FamilyState>, policy: RotationPolicy, Rotation][] =
  [
    ['the active token is rotated', active, {}, on, 'rotate'],
    ['the active token is rotated without detection, too', active, {}, off, 'rotate'],
    ['the first token of a family has no parent', active, { parentHash: null }, on, 'rotate'],
    ['C19: the parent of the active token yields it, however late', parent, {}, on, 'repeat'],
    ['C19: without detection, too', parent, {}, off, 'repeat'],
    ['rule 1: an older token is reuse', oldest, {}, on, 'reuse'],
    ['one a proof replaced just now came late', oldest, { replacedAt: ago(29.999) }, on, 'refuse'],
    ['one it replaced a while ago is reuse', oldest, { replacedAt: ago(30) }, on, 'reuse'],
    ['without detection an older token is only refused', oldest, {}, off, 'refuse'],
    ['a revoked family yields nothing: active', active, { revokedAt: ago(1) }, on, 'refuse'],
    ['a revoked family yields nothing: parent', parent, { revokedAt: ago(1) }, on, 'refuse'],
    ['a session that showed too little for too long', active, { isLow: true }, lowFor(3600), 'low'],
    ['one that may yet', active, { isLow: true }, lowFor(3601), 'rotate'],
    ['one that showed all there is', active, {}, lowFor(60), 'rotate'],
    ['without a limit a low session goes on', active, { isLow: true }, on, 'rotate'],
    ['a banned user gets nothing', active, { bannedUntilMs: ago(-1).getTime() }, on, 'banned'],
    ['a ban that ended is none', active, { bannedUntilMs: ago(0).getTime() }, on, 'rotate'],
    [
      'a banned user cannot end the family of a thief-proof session',
      oldest,
      { bannedUntilMs: ago(-1).getTime() },
      on,
      'banned',
    ],
    ['a session past its end is over', active, { notAfter: ago(0) }, on, 'expired'],
    ['a session before its end is not', active, { notAfter: ago(-1) }, on, 'rotate'],
    ['a session that began too long ago is over', active, {}, { ...on, timeboxMs: 3_600_000 }, 'expired'],
    ['one that did not is not', active, {}, { ...on, timeboxMs: 3_600_001 }, 'rotate'],
    ['one that nobody used for too long is over', active, {}, { ...on, inactivityMs: 60_000 }, 'inactive'],
    ['one that somebody used is not', active, {}, { ...on, inactivityMs: 60_001 }, 'rotate'],
    [
      'one place only: the older one is over',
      parent,
      { hasNewer: true },
      { ...on, singlePerUser: true },
      'superseded',
    ],
    ['as many places as one likes', active, { hasNewer: true }, on, 'rotate'],
    [
      'no family ends for a token of a session that is over',
      oldest,
      {},
      { ...on, inactivityMs: 1 },
      'inactive',
    ],
  ];

describe('refresh-token rotation', () => {
  test.each(table)('%s', (_rule, token, state, policy, expected) => {
    expect(decideRotation(token, { ...family, ...state }, policy, now)).toBe(expected);
  });
});
