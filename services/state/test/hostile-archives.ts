import { archiveOf, fileEntry, pack, sha256, unpack } from './archive.ts';

/** What is done to a good archive, the status that it is refused with, and a part of the message. */
export type Attack = readonly [name: string, attack: (good: Buffer) => Buffer, code: number, says: string];

const link = { path: 'a', type: 'link', mode: '777', uid: 0, gid: 0, mtimeNs: '0', target: '/etc' };
const folder = { path: 'a', type: 'folder', mode: '755', uid: 0, gid: 0, mtimeNs: '0' };
/** Folders in folders, until one lies deeper than a save looks. */
const deep = Array.from({ length: 15 }, (_, at) => ({
  ...folder,
  path: Array.from({ length: at + 1 }, () => 'x'.repeat(250)).join('/'),
}));
const anyMember = {
  dataset: 'system',
  role: 'system',
  path: '/etc',
  snapshot: sha256(''),
  entries: 1,
  bytes: 0,
  unreadable: 0,
  torn: 0,
};
const ofAda = (member: object) =>
  archiveOf([], [], {
    kind: 'user',
    user: 'ada',
    members: [{ ...anyMember, role: 'user', user: 'ada', ...member }],
  });
const huge = fileEntry('big', 'x', { size: 2 ** 50 });
/** Archives that nobody exported. */
export const ATTACKS: readonly Attack[] = [
  [
    'a changed byte of a content',
    (good) => {
      const files = unpack(good);
      const at = files.findIndex(([name, { length }]) => name.startsWith('objects/') && length > 100);
      const [name, content] = files[at] as [string, Buffer];
      files[at] = [name, Buffer.from(content.map((byte, position) => (position === 50 ? byte ^ 1 : byte)))];
      return pack(files);
    },
    3,
    'is damaged',
  ],
  [
    'a changed byte of a list',
    (good) => Buffer.from(good.toString('latin1').replace('"hosts"', '"hostz"'), 'latin1'),
    3,
    'cannot be imported',
  ],
  ['a missing content', (good) => pack(unpack(good).slice(0, -1)), 3, 'is missing'],
  [
    'a content twice',
    (good) => pack([...unpack(good), unpack(good).at(-1) as [string, Buffer]]),
    3,
    'nothing in it needs',
  ],
  [
    'a content that nothing needs',
    (good) => pack([...unpack(good), [`objects/${'0'.repeat(64)}`, Buffer.alloc(1)]]),
    3,
    'nothing in it needs',
  ],
  [
    'a file with another name',
    (good) => pack([...unpack(good), ['../../etc/passwd', Buffer.alloc(1)]]),
    3,
    'nothing in it needs',
  ],
  ['a truncated stream', (good) => good.subarray(0, good.length - 2000), 3, 'it ends too early'],
  ['nothing at all', () => Buffer.alloc(0), 3, 'it ends too early'],
  ['no end', (good) => good.subarray(0, good.length - 512), 3, 'it ends too early'],
  ['more after the end', (good) => Buffer.concat([good, Buffer.alloc(512)]), 3, 'it goes on after its end'],
  ['no archive', () => Buffer.alloc(100_000, 'x'), 3, 'no archive that an export makes'],
  ['a path with ..', () => archiveOf([folder, fileEntry('a/../b', 'x')], ['x']), 3, 'not where it may be'],
  ['.. itself', () => archiveOf([fileEntry('..', 'x')], ['x']), 3, 'not where it may be'],
  ['an absolute path', () => archiveOf([fileEntry('/etc/shadow', 'x')], ['x']), 3, 'not where it may be'],
  ['a folder that is not there', () => archiveOf([fileEntry('a/b', 'x')], ['x']), 3, 'not where it may be'],
  ['a symlink as parent', () => archiveOf([link, fileEntry('a/b', 'x')], ['x']), 3, 'not where it may be'],
  [
    'a link and then a folder of that name',
    () => archiveOf([link, folder, fileEntry('a/b', 'x')], ['x']),
    3,
    'not where it may be',
  ],
  [
    'entries out of order',
    () => archiveOf([fileEntry('b', 'x'), fileEntry('a', 'x')], ['x']),
    3,
    'not where it may be',
  ],
  ['an encoded slash', () => archiveOf([fileEntry('a%2Fb', 'x')], ['x']), 3, 'as no entry has it'],
  ['a name with a zero', () => archiveOf([fileEntry('a%00b', 'x')], ['x']), 3, 'as no entry has it'],
  ['another spelling of a path', () => archiveOf([fileEntry('%61', 'x')], ['x']), 3, 'as no entry has it'],
  [
    'a field of its own',
    () => archiveOf([fileEntry('a', 'x', { run: 'me' })], ['x']),
    3,
    'as no entry has it',
  ],
  [
    'a prototype',
    () =>
      archiveOf(`{"path":".","type":"folder","mode":"755","uid":0,"gid":0,"mtimeNs":"0","__proto__":{}}\n`),
    3,
    'as no entry has it',
  ],
  [
    'a mode of letters',
    () => archiveOf([fileEntry('a', 'x', { mode: 'rwx' })], ['x']),
    3,
    'as no entry has it',
  ],
  ['a negative owner', () => archiveOf([fileEntry('a', 'x', { uid: -1 })], ['x']), 3, 'as no entry has it'],
  [
    'a hash that leads elsewhere',
    () => archiveOf([fileEntry('a', 'x', { hash: '../../../x' })], ['x']),
    3,
    'as no entry has it',
  ],
  ['a file without content', () => archiveOf([{ ...folder, type: 'file' }]), 3, 'not what it should be'],
  [
    'one inode with two contents',
    () =>
      archiveOf([fileEntry('a', 'x', { inode: '1:1' }), fileEntry('b', 'y', { inode: '1:1' })], ['x', 'y']),
    3,
    'has two contents',
  ],
  [
    'one content with two sizes',
    () => archiveOf([fileEntry('a', 'x'), fileEntry('b', 'x', { size: 2 })], ['x']),
    3,
    'has two sizes',
  ],
  [
    "a size that is not the content's",
    () => archiveOf([fileEntry('a', 'x', { size: 2 })], ['x']),
    3,
    'another size than its entry',
  ],
  ['a huge declared size', () => archiveOf([huge], []), 8, 'not enough free space'],
  ['a list that is no JSON', () => archiveOf('{"path":\n'), 3, 'is no entry'],
  ['a list without a last line', () => archiveOf('{"path":"."'), 3, 'is not whole'],
  ['an empty list', () => archiveOf(''), 3, 'is not whole'],
  [
    'a list that is no UTF-8',
    (good) =>
      pack(
        unpack(good).map(([name, content]) => [
          name,
          name.startsWith('manifests') ? Buffer.concat([Buffer.from([0xff]), content]) : content,
        ]),
      ),
    3,
    'is no UTF-8',
  ],
  ['a line without an end', () => archiveOf(`{"path":"${'x'.repeat(400_000)}`), 3, 'is too long'],
  ['a description with controls', () => archiveOf([], [], { description: '\u001b[2J' }), 3, 'U+001B'],
  ['a state of nobody', () => archiveOf([], [], { kind: 'user' }), 3, 'user is missing'],
  ['a user with a path', () => archiveOf([], [], { kind: 'user', user: '../x' }), 3, 'is no user name'],
  ['a home that is not the one of its user', () => ofAda({ dataset: 'home-bob' }), 3, 'does not belong'],
  ['the system as a home', () => ofAda({ dataset: 'system' }), 3, 'does not belong'],
  [
    'a home as part of the system',
    () => archiveOf([], [], { members: [{ ...anyMember, dataset: 'home-ada' }] }),
    3,
    'does not belong',
  ],
  [
    'a user of the system',
    () => archiveOf([], [], { members: [{ ...anyMember, user: 'ada' }] }),
    3,
    'does not belong',
  ],
  ['a name that no file can have', () => archiveOf([fileEntry('x'.repeat(256), 'x')], ['x']), 3, 'too long'],
  ['a path that is too deep', () => archiveOf(deep), 3, 'too long'],
  ['a path of 60 KB', () => archiveOf([fileEntry('x/'.repeat(30_000), 'x')], ['x']), 3, 'as no entry has'],
  ['a time that is none', () => archiveOf([], [], { createdAt: 'soon' }), 3, 'the time of a state is none'],
  [
    'a member three times',
    () =>
      archiveOf([], [], {
        members: [anyMember, ...[1, 2].map(() => ({ ...anyMember, dataset: 'system:/etc' }))],
      }),
    3,
    'two members of one name',
  ],
  [
    'a second member without its place in its name',
    () => archiveOf([], [], { members: [anyMember, { ...anyMember, path: '/var' }] }),
    3,
    'does not belong',
  ],
  ['no members', () => archiveOf([], [], { members: [] }), 3, 'has no members'],
  [
    'another driver',
    (good) =>
      Buffer.from(
        pack(
          unpack(good).map(([name, content]) => [
            name,
            Buffer.from(String(content).replace(/"driver":"\w+"/, '"driver":"zfs__"')),
          ]),
        ),
      ),
    3,
    'driver is not one of',
  ],
];
