import { describe, expect, it } from 'vitest';
import { type Caller, callerText, checkAccess, isBornAdministrator } from './access.ts';

const callers: Record<string, Caller> = {
  'a local user': { kind: 'local', uid: 1000 },
  'a local user nobody knows': { kind: 'local', uid: undefined },
  'a certificate': { kind: 'certificate', name: 'backup', admin: false },
  'a token': { kind: 'token', name: 'ada', admin: false },
  'a stranger': { kind: 'stranger', why: 'the reason' },
};

/** Outcome for read, own (his), own (another's), admin; and for administrators. */
const table: [string, string][] = [
  ['a local user', 'yes yes no no yes'],
  ['a local user nobody knows', 'yes who who who yes'],
  ['a certificate', 'yes no no no yes'],
  ['a token', 'no no no no yes'],
  ['a stranger', 'who who who who who'],
];

describe('access', () => {
  it.each(table)('of %s', (name, expected) => {
    const ask = (right: 'read' | 'own' | 'admin', isOwner: boolean, isAdministrator = false) => {
      try {
        const caller = callers[name] as Caller;
        // A certificate or a token owns nothing: rights on states go by uid.
        const owner = isOwner && caller.kind === 'local' && caller.uid !== undefined;
        checkAccess(caller, {
          operation: 'It',
          right,
          isAdministrator,
          isOwner: owner,
          administrators: 'root',
        });
        return 'yes';
      } catch (error) {
        return (error as { kind: string }).kind === 'forbidden' ? 'no' : 'who';
      }
    };
    const found = [
      ask('read', false),
      ask('own', true),
      ask('own', false),
      ask('admin', false),
      ask('admin', false, true),
    ];
    expect(found.join(' ')).toBe(expected);
  });

  it('is refused with a sentence that says who may, and without identity why', () => {
    const ask = (caller: Caller, right: 'own' | 'admin') => () =>
      checkAccess(caller, {
        operation: 'GC',
        right,
        isAdministrator: false,
        isOwner: false,
        administrators: 'root and Ada',
      });
    expect(ask({ kind: 'local', uid: 5 }, 'admin')).toThrow('GC is for administrators: root and Ada');
    expect(ask({ kind: 'local', uid: 5 }, 'own')).toThrow(
      'GC is for the user whose home it is, and for administrators: root and Ada',
    );
    expect(ask({ kind: 'stranger', why: 'the reason' }, 'own')).toThrow('who calls is not known: the reason');
  });
});

describe('administrators by themselves', () => {
  it.each<[Caller, number | undefined, boolean]>([
    [{ kind: 'local', uid: 0 }, 1000, true],
    [{ kind: 'local', uid: 1000 }, 1000, true],
    [{ kind: 'local', uid: 1001 }, 1000, false],
    [{ kind: 'local', uid: undefined }, 1000, false],
    [{ kind: 'local', uid: undefined }, undefined, false],
    [{ kind: 'certificate', name: 'x', admin: true }, 1000, true],
    [{ kind: 'certificate', name: 'x', admin: false }, 1000, false],
    [{ kind: 'token', name: 'x', admin: true }, 1000, true],
    [{ kind: 'token', name: 'root', admin: false }, 1000, false],
    [{ kind: 'stranger', why: '' }, 1000, false],
  ])('%j under a daemon of uid %s: %s', (caller, daemon, expected) => {
    expect(isBornAdministrator(caller, daemon)).toBe(expected);
  });
});

it('the log has callers in a word or two', () => {
  expect(Object.values(callers).map(callerText)).toEqual([
    'uid 1000',
    'unknown uid',
    'certificate backup',
    'token ada',
    'stranger',
  ]);
});
