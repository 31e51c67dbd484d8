import { expect, it } from 'vitest';
import { readExportedEntry } from './exported-entry.ts';

const FOLDER = { path: '.', type: 'folder', mode: '755', uid: 0, gid: 0, mtimeNs: '0' };

it.each<[string, unknown]>([
  ['none', {}],
  ['some', { 'security.selinux': 'YQ==', 'system.posix_acl_access': '', 'user.nöte': 'AP8K' }],
])('takes an entry with extended attributes: %s', (_what, attributes) => {
  const entry = { ...FOLDER, attributes };
  expect(readExportedEntry(JSON.stringify(entry))).toEqual(entry);
});

it.each<[string, unknown]>([
  ['a list', []],
  ['nothing', null],
  ['of the file system itself', { 'system.nfs4_acl': '' }],
  ['of a mount', { 'trusted.overlay.opaque': 'eQ==' }],
  ['of no name space', { note: '' }],
  ['of too long a name', { [`user.${'x'.repeat(251)}`]: '' }],
  ['with a zero in the name', { 'user.a\0b': '' }],
  ['in no order', { 'user.b': '', 'user.a': '' }],
  ['with a number', { 'user.a': 5 }],
  ['in no base64', { 'user.a': 'a b' }],
])('refuses extended attributes: %s', (_what, attributes) => {
  const line = JSON.stringify({ ...FOLDER, attributes });
  expect(() => readExportedEntry(line)).toThrow(/"attributes" as no entry has it/);
});
