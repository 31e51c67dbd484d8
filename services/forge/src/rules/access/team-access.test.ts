import { expect, test } from 'vitest';
import { readTeamAccess, type TeamAccess, teamAccessJson, type WantedTeamAccess } from './team-access.ts';

const access = (level: number, code: number, issues: number, pulls: number): TeamAccess => ({
  level,
  code,
  issues,
  pulls,
});
const writers = access(2, 2, 2, 0);
const admins = access(3, 2, 2, 2);

test.each<[string, WantedTeamAccess, TeamAccess | undefined, TeamAccess]>([
  ['admin has every unit', { permission: 'admin', units: ['repo.code'] }, undefined, admins],
  [
    'units get the permission',
    { permission: 'write', units: ['repo.code', 'repo.issues'] },
    undefined,
    writers,
  ],
  ['without a permission they can be read', { units: ['repo.pulls'] }, undefined, access(1, 0, 0, 1)],
  ['none gives nothing', { permission: 'none', units: ['repo.code'] }, undefined, access(0, 0, 0, 0)],
  [
    'a map says what each gives, the least is the permission',
    { permission: 'write', unitsMap: { 'repo.code': 'read', 'repo.issues': 'write' } },
    undefined,
    access(1, 1, 2, 0),
  ],
  [
    'what a map does not give takes nothing from the permission',
    { unitsMap: { 'repo.code': 'write', 'repo.issues': 'none', 'repo.wiki': 'none' } },
    undefined,
    access(2, 2, 0, 0),
  ],
  ['a map that gives nothing', { unitsMap: { 'repo.code': 'none' } }, undefined, access(0, 0, 0, 0)],
  [
    'nobody administrates a unit alone',
    { permission: 'read', unitsMap: { 'repo.code': 'admin' } },
    undefined,
    access(2, 2, 0, 0),
  ],
  [
    'units of other forges are passed over',
    { permission: 'write', units: ['repo.wiki'] },
    undefined,
    access(2, 0, 0, 0),
  ],
  ['nothing said, nothing changed', {}, writers, writers],
  ['another permission for the same units', { permission: 'read' }, writers, access(1, 1, 1, 0)],
  ['other units with the same permission', { units: ['repo.pulls'] }, writers, access(2, 0, 0, 2)],
  ['to admin', { permission: 'admin' }, writers, admins],
  ['from admin', { permission: 'write' }, admins, access(2, 2, 2, 2)],
])('%s', (_what, wanted, before, expected) => {
  expect(readTeamAccess(wanted, before)).toEqual(expected);
});

test.each<[string, WantedTeamAccess]>([
  ['owner', { permission: 'owner', units: ['repo.code'] }],
  ['an unknown word', { permission: 'root', units: ['repo.code'] }],
  ['an owner of a unit', { unitsMap: { 'repo.code': 'owner' } }],
  ['an unknown word for a unit', { unitsMap: { 'repo.code': 'all' } }],
  ['no unit at all', { permission: 'write' }],
  ['empty lists', { permission: 'write', units: [], unitsMap: {} }],
])('refused: %s', (_what, wanted) => {
  expect(() => readTeamAccess(wanted)).toThrow(/In\(|should not be empty/);
});

test('on the wire', () => {
  expect(teamAccessJson(access(1, 1, 2, 0))).toEqual({
    permission: 'read',
    units: ['repo.code', 'repo.issues'],
    units_map: { 'repo.code': 'read', 'repo.issues': 'write' },
  });
  expect(teamAccessJson(access(4, 2, 2, 2))).toMatchObject({
    permission: 'owner',
    units_map: { 'repo.code': 'owner', 'repo.issues': 'owner', 'repo.pulls': 'owner' },
  });
});
