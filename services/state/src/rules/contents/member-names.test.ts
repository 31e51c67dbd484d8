import { expect, it } from 'vitest';
import { memberNames } from './member-names.ts';

const system = { role: 'system', path: '/' } as const;
const ada = { role: 'user', user: 'ada', path: '/home/ada' } as const;

it.each([
  ['one of the vault or btrfs', [system], ['system']],
  ['a home, wherever it lies', [ada], ['home-ada']],
  [
    'several of ZFS',
    [system, { ...system, path: '/var' }, { role: 'boot', path: '/boot' }, { ...system, path: '/srv' }],
    ['system', 'system:/var', 'boot', 'system:/srv'],
  ],
  ['parts of a home', [ada, { ...ada, path: '/home/ada/mail' }], ['home-ada', 'home-ada:/home/ada/mail']],
] as const)('%s', (_what, members, names) => {
  expect(memberNames(members)).toEqual(names);
});

it('gives two that lie at one place one name, which an import refuses', () => {
  expect(new Set(memberNames([system, system, system])).size).toBe(2);
});
