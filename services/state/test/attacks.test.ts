import { createHash } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { skipWithout } from '@croft/testing';
import { describe, expect, it } from 'vitest';
import { materialise } from '../src/outside/storage/vault/trees/materialise.ts';
import { startDaemon, temporaryFolder, treeFacts, vaultFacts } from './daemon.ts';

describe('names', () => {
  const NAMES = [
    '../escape',
    '/etc/passwd',
    'a/../../b',
    'line\nbreak',
    'nul\0byte',
    'bell\u0007',
    '\u001b[31mred',
    'right\u202eleft',
    'ｆｕｌｌwidth',
    'naïve',
    '👾',
    '$(id)',
    "'; drop table states; --",
    '%2e%2e%2f',
    'auto_000000',
    '-o',
    '..',
    '.',
  ];

  it('that are hostile make no state and show nothing unprintable', async () => {
    const daemon = await startDaemon();
    const before = vaultFacts(daemon.folder);
    for (const stateName of NAMES) {
      const answer = await daemon.call('SaveSystemState', { stateName });
      expect([stateName, answer.code, answer.order]).toEqual([stateName, 3, []]);
      expect(answer.details).toMatch(/^[ -~]+$/);
      const removal = await daemon.call('RemoveSystemState', { stateName, force: true });
      expect([stateName, removal.code]).toEqual([stateName, 5]);
      expect(removal.details).not.toMatch(/[\p{Cc}\u202e]/u);
    }
    expect(vaultFacts(daemon.folder)).toEqual(before);
  });

  it('of a hundred thousand characters make a short refusal', async () => {
    const daemon = await startDaemon();
    for (const operation of ['SaveSystemState', 'RemoveSystemState']) {
      const answer = await daemon.call(operation, { stateName: '.'.repeat(50_000) });
      expect([3, 5]).toContain(answer.code);
      expect(answer.details.length).toBeLessThan(500);
    }
    expect((await daemon.call('SaveSystemState', { stateName: 'x'.repeat(100_000) })).code).toBe(8);
    expect((await daemon.call('Version')).code).toBe(0);
  });
});

describe('a hostile tree', () => {
  it('has links out of it saved as links, never followed', async () => {
    const secret = temporaryFolder();
    writeFileSync(join(secret, 'password'), 'hunter2-hunter2');
    const daemon = await startDaemon();
    symlinkSync(secret, join(daemon.tree, 'folder-link'));
    symlinkSync(join(secret, 'password'), join(daemon.tree, 'file-link'));
    symlinkSync('.', join(daemon.tree, 'loop'));
    await daemon.save('links');
    const hash = createHash('sha256').update('hunter2-hunter2').digest('hex');
    expect(vaultFacts(daemon.folder).join('\n')).not.toContain(hash.slice(2));
  });

  it('swaps folders for links to a secret while it is saved, and the secret stays out', async () => {
    const secret = temporaryFolder();
    for (let file = 0; file < 20; file++) writeFileSync(join(secret, `f${file}`), 'hunter2-hunter2');
    const daemon = await startDaemon();
    const away = temporaryFolder();
    for (let folder = 0; folder < 20; folder++) {
      mkdirSync(join(daemon.tree, `d${folder}`));
      for (let file = 0; file < 20; file++)
        writeFileSync(join(daemon.tree, `d${folder}`, `f${file}`), `${folder} ${file}`);
    }
    symlinkSync(secret, join(away, 'link'));
    let swaps = 0;
    // The link stays in the folder's place from one turn of the event loop to the next.
    const swapper = setInterval(() => {
      const path = join(daemon.tree, `d${(swaps >> 1) % 20}`);
      renameSync(path, join(away, swaps % 2 === 0 ? 'held' : 'link'));
      renameSync(join(away, swaps % 2 === 0 ? 'link' : 'held'), path);
      swaps++;
    }, 0);
    await daemon.save('swapped');
    clearInterval(swapper);
    expect(swaps).toBeGreaterThan(3);
    const hash = createHash('sha256').update('hunter2-hunter2').digest('hex');
    expect(vaultFacts(daemon.folder).join('\n')).not.toContain(hash.slice(2));
  });

  it('cannot put control characters or a forged line into the answer', async () => {
    const daemon = await startDaemon();
    symlinkSync('x', join(daemon.tree, '\u001b[2Jforged\nline'));
    writeFileSync(join(daemon.tree, 'a\nsaved everything'), 'x');
    const answer = await daemon.call('SaveSystemState', { stateName: 'forged' });
    expect(answer.code).toBe(0);
    expect(answer.lines.join('')).toMatch(/^[ -~]+$/);
    expect(answer.lines).toHaveLength(2);
  });
});

describe('a forged manifest', () => {
  const entry = (path: string, more: object) =>
    JSON.stringify({ path, mode: '777', uid: 0, gid: 0, mtimeNs: '0', ...more });
  const folder = (path: string) => entry(path, { type: 'folder' });
  const content = createHash('sha256').update('evil').digest('hex');
  const file = (path: string) => entry(path, { type: 'file', size: 4, hash: content });
  const link = (path: string, target: string) => entry(path, { type: 'link', target });

  it.each([
    ['climbs with ..', [folder('.'), file('../escaped')]],
    ['climbs from below', [folder('.'), folder('a'), file('a/../../escaped')]],
    ['climbs with hidden dots', [folder('.'), file('%2E%2E/escaped')]],
    ['hides a slash', [folder('.'), file('..%2Fescaped')]],
    ['is absolute', [folder('.'), file('/tmp/escaped')]],
    ['writes through a link', [folder('.'), link('out', 'OUTSIDE'), file('out/escaped')]],
    ['makes a folder of a link', [folder('.'), link('out', 'OUTSIDE'), folder('out'), file('out/escaped')]],
    ['has a nul byte', [folder('.'), file('a%00b')]],
    [
      'names a content that climbs',
      [folder('.'), entry('x', { type: 'file', hash: '../../../../etc/passwd' })],
    ],
    ['has no root', [file('escaped')]],
  ])('that %s restores nothing, nowhere', async (_what, lines) => {
    const vault = temporaryFolder();
    const place = temporaryFolder();
    const outside = join(place, 'outside');
    mkdirSync(outside);
    const store = (bytes: string) => {
      const hash = createHash('sha256').update(bytes).digest('hex');
      mkdirSync(join(vault, 'objects', hash.slice(0, 2)), { recursive: true });
      writeFileSync(join(vault, 'objects', hash.slice(0, 2), hash.slice(2)), bytes);
      return hash;
    };
    store('evil');
    const manifest = store(`${lines.map((line) => line.replace('OUTSIDE', outside)).join('\n')}\n`);
    const target = join(place, 'target');
    await expect(materialise(vault, manifest, target)).rejects.toThrow(/missing or damaged|EEXIST|ENOTDIR/);
    expect(readdirSync(place)).toEqual(['outside']);
    expect(readdirSync(outside)).toEqual([]);
  });

  it('whose content was changed on the disk is not restored', async () => {
    const daemon = await startDaemon();
    writeFileSync(join(daemon.tree, 'sudoers'), 'root ALL');
    await daemon.save('good');
    const hash = createHash('sha256').update('root ALL').digest('hex');
    const object = join(daemon.folder, 'vault/objects', hash.slice(0, 2), hash.slice(2));
    expect(readFileSync(object, 'utf8')).toBe('root ALL');
    writeFileSync(object, 'evil ALL');
    const { machines, storage } = await daemon.dump();
    const target = join(temporaryFolder(), 'target');
    const restoring = materialise(
      storage.location,
      machines[0]?.states[0]?.members[0]?.snapshot as string,
      target,
    );
    await expect(restoring).rejects.toThrow(/content of sudoers .*damaged/);
    expect(existsSync(target)).toBe(false);
  });
});

describe('a target of a restore', () => {
  it.each([
    'a link to a folder',
    'a folder that is not empty',
    'a file',
    'beside what a link leads to, and not empty',
  ])('that is %s is refused', async (what) => {
    const daemon = await startDaemon();
    await daemon.save('good');
    const { machines, storage } = await daemon.dump();
    const place = temporaryFolder();
    const isBeside = what.startsWith('beside');
    const target = isBeside ? `${place}/link/../target` : join(place, 'target');
    const other = join(place, 'other');
    mkdirSync(join(place, 'far/away'), { recursive: true });
    symlinkSync(join(place, 'far/away'), join(place, 'link'));
    mkdirSync(other);
    if (what === 'a link to a folder') symlinkSync(other, target);
    if (what === 'a file') writeFileSync(target, 'precious');
    if (what.endsWith('not empty')) {
      mkdirSync(target);
      writeFileSync(`${target}/precious`, 'x');
    }
    const restoring = materialise(
      storage.location,
      machines[0]?.states[0]?.members[0]?.snapshot as string,
      target,
    );
    await expect(restoring).rejects.toThrow(/cannot restore into/);
    expect(readdirSync(other)).toEqual([]);
    expect(existsSync(`${target}/precious`)).toBe(what.endsWith('not empty'));
    expect(existsSync(join(place, 'target'))).toBe(!isBeside);
  });
});

describe('attack: a restore into a folder of somebody else', () => {
  /** A state with a few folders, and where a restore of it goes. */
  async function withState() {
    const daemon = await startDaemon();
    for (const folder of ['a', 'b', 'c']) {
      mkdirSync(join(daemon.tree, folder));
      writeFileSync(join(daemon.tree, folder, 'file'), folder);
    }
    await daemon.save('good');
    const place = temporaryFolder();
    const [target, away, outside] = ['target', 'away', 'outside'].map((name) => join(place, name)) as [
      string,
      string,
      string,
    ];
    mkdirSync(outside);
    const { machines, storage } = await daemon.dump();
    const list = machines[0]?.states[0]?.members[0]?.snapshot as string;
    const restoreWith = (onEntry: () => void) => materialise(storage.location, list, target, { onEntry });
    return { daemon, restoreWith, target, away, outside };
  }

  it('puts a link in its place meanwhile, and nothing is written where that leads', async () => {
    const { daemon, restoreWith, target, away, outside } = await withState();
    let entries = 0;
    await restoreWith(() => {
      if (++entries !== 3) return;
      renameSync(target, away);
      symlinkSync(outside, target);
    });
    expect(readdirSync(outside)).toEqual([]);
    expect(treeFacts(away)).toEqual(treeFacts(daemon.tree));
  });

  it('has it fail as well, and nothing is deleted where that leads', async () => {
    const { restoreWith, target, away, outside } = await withState();
    mkdirSync(join(outside, 'a'));
    writeFileSync(join(outside, 'a/file'), 'precious');
    let entries = 0;
    const restoring = restoreWith(() => {
      if (++entries !== 3) return;
      renameSync(target, away);
      symlinkSync(outside, target);
      throw new Error('no more');
    });
    await expect(restoring).rejects.toThrow('no more');
    expect(readFileSync(join(outside, 'a/file'), 'utf8')).toBe('precious');
    expect(readdirSync(away)).toEqual([]);
  });

  it('that was there before is nobody else’s until it is finished', async (context) => {
    if (process.getuid?.() !== 0) skipWithout(context, 'the right to give a folder away');
    const { daemon, restoreWith, target } = await withState();
    mkdirSync(target, { mode: 0o777 });
    chownSync(target, 65_534, 65_534);
    const seen = new Set<string>();
    await restoreWith(() => {
      const { uid, gid, mode } = statSync(target);
      seen.add(`${uid}:${gid} ${(mode & 0o7777).toString(8)}`);
    });
    expect([...seen]).toEqual(['0:0 700']);
    expect(treeFacts(target)).toEqual(treeFacts(daemon.tree));
  });

  it('is refused as it is, with its owner and mode, when it is not empty', async (context) => {
    if (process.getuid?.() !== 0) skipWithout(context, 'the right to give a folder away');
    const { restoreWith, target } = await withState();
    mkdirSync(join(target, 'precious'), { recursive: true });
    chownSync(target, 65_534, 65_534);
    const before = treeFacts(target);
    await expect(restoreWith(() => {})).rejects.toThrow('it is not empty');
    expect(treeFacts(target)).toEqual(before);
  });
});

it('a client that talks nonsense does not disturb the others', async () => {
  const daemon = await startDaemon();
  const socket = connect(join(daemon.folder, 'statesvc.sock'));
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\n\r\n\0\0\0\0');
  expect((await daemon.call('Version')).code).toBe(0);
  socket.destroy();
});
