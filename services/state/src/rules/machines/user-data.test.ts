import { describe, expect, it } from 'vitest';
import { aMachine, aModel } from '../../../test/models.ts';
import type { Home } from '../../model/model.ts';
import { checkUserName, homePath, planDissociation, planHome, planMove } from './user-data.ts';

describe('checkUserName', () => {
  it.each(['ada', 'Ada', '_ada', 'a.b-c_1', 'machine$', 'x'.repeat(32)])('takes %s', (user) => {
    expect(() => checkUserName(user)).not.toThrow();
  });

  it.each(['', '-rf', '.', '..', '1a', 'a b', 'a/b', 'a@b', 'a,b', 'a\n', 'é', 'x'.repeat(33), 'a$b'])(
    'refuses %j',
    (user) => {
      expect(() => checkUserName(user)).toThrow('is no user name');
    },
  );
});

describe('homePath', () => {
  it.each([
    ['/home/ada', '/home/ada'],
    ['//home/./ada//', '/home/ada'],
    ['/home/ä b', '/home/ä b'],
    ['/home/100%', '/home/100%25'],
  ])('of %j is %j', (given, path) => {
    expect(homePath(given)).toBe(path);
  });

  it.each(['', 'home/ada', '/', '///.', '/home/../etc', '/..', '/a\nb', '/a\u0000', `/${'x'.repeat(4000)}`])(
    'refuses %j',
    (given) => {
      expect(() => homePath(given)).toThrow('cannot be the path of a home');
    },
  );
});

const [here, other] = ['vault:/etc', 'vault:/other'];
const machine = aMachine({ datasets: [{ name: 'system', role: 'system', path: '/etc' }] });
const [ada, bob] = [
  { user: 'ada', path: '/home/ada', machines: [here, other] },
  { user: 'bob', path: '/home/bob', machines: [other] },
];
const model = aModel({ homes: [ada, bob] });
const unmanaged = { ...machine, managed: false };

describe('planHome', () => {
  it('makes, links or moves', () => {
    expect(planHome(model, machine, 'eve', '/home/eve')).toEqual({
      do: 'create',
      home: { user: 'eve', path: '/home/eve', machines: [here] },
    });
    expect(planHome(model, machine, 'ada', '/home/ada')).toEqual({
      do: 'link',
      home: ada,
      machines: [here, other],
    });
    expect(planHome(model, machine, 'bob', '/srv/bob')).toEqual({
      do: 'move',
      home: bob,
      path: '/srv/bob',
      machines: [other, here],
    });
  });

  it.each(['/srv/bob', '/srv/bob/sub', '/srv'])(
    'makes a new one where another home is at %s by now, and his was at /srv/bob',
    (path) => {
      const left = { ...bob, path: '/srv/bob', machines: [] };
      const eve = { user: 'eve', path, machines: [here] };
      const plan = (homes: Home[]) => planHome(aModel({ homes }), machine, 'bob', '/new/bob');
      expect(plan([left, eve])).toEqual({
        do: 'create',
        home: { user: 'bob', path: '/new/bob', machines: [here] },
      });
      // One that holds no place is in nobody's way, and one with datasets of its own takes nothing else along.
      expect(plan([left, { ...eve, machines: [] }]).do).toBe('move');
      expect(plan([{ ...left, datasets: [] }, eve]).do).toBe('move');
    },
  );

  it.each([
    ['/home/ada', 'the home of ada'],
    ['/home/ada/sub', 'the home of ada'],
    ['/home', 'the home of ada'],
    ['/etc', 'system of this machine'],
    ['/etc/home', 'system of this machine'],
  ])('refuses %s', (path, by) => {
    expect(() => planHome(model, machine, 'eve', path)).toThrow(`is taken by ${by}`);
  });

  it('lets one name begin with another', () => {
    expect(planHome(model, machine, 'eve', '/home/adam').do).toBe('create');
    expect(planHome(model, machine, 'ada', '/home/ada/sub').do).toBe('move');
  });

  it('needs a managed machine', () => {
    expect(() => planHome(model, unmanaged, 'eve', '/home/eve')).toThrow('is not managed');
  });
});

describe('planMove', () => {
  it('finds the home that lies there on this machine', () => {
    expect(planMove(model, machine, '/home/ada', '/srv/ada')).toBe(ada);
  });

  it.each([
    ['/home/eve', '/srv/eve', 'no home on vault:/etc lies at "/home/eve"'],
    ['/home/bob', '/srv/bob', 'no home on vault:/etc lies at "/home/bob"'],
    ['/home/ada', '/home/bob', 'taken by the home of bob'],
    ['/home/ada', '/etc/ada', 'taken by system'],
  ])('refuses %s to %s', (from, to, says) => {
    expect(() => planMove(model, machine, from, to)).toThrow(says);
  });
});

describe('planDissociation', () => {
  it.each([
    ['ada', true, aModel({ homes: [{ ...ada, machines: [here] }] }), { machines: [], empty: true }],
    ['ada', false, aModel({ homes: [{ ...ada, machines: [here] }] }), { machines: [], empty: false }],
    // Another machine uses the home.
    ['ada', true, model, { machines: [other], empty: false }],
  ])('of %s, content too: %s', (user, removeHome, on, expected) => {
    expect(planDissociation(on, machine, user, removeHome)).toMatchObject(expected);
  });

  it.each(['bob', 'eve'])('refuses %s, who is not on this machine', (user) => {
    expect(() => planDissociation(model, machine, user, true)).toThrow('has no home on vault:/etc');
  });
});
