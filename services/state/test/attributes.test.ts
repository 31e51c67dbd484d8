import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { skipWithout } from '@croft/testing';
import xattr from '@napi-rs/xattr';
import { describe, expect, it } from 'vitest';
import { type Daemon, startDaemon, temporaryFolder } from './daemon.ts';
import { callExtra } from './extras-client.ts';
import { host } from './host.ts';
import { requireAttributes } from './require-attributes.ts';
import { runCommand as run } from './run-command.ts';

/** An access control list as the kernel keeps it (linux/posix_acl_xattr.h): a user of the machine may read. */
function accessList(user: number): Buffer {
  const entries: readonly [tag: number, permissions: number, id: number][] = [
    [0x01, 6, 0xffff_ffff],
    [0x02, 4, user],
    [0x04, 4, 0xffff_ffff],
    [0x10, 4, 0xffff_ffff],
    [0x20, 0, 0xffff_ffff],
  ];
  const list = Buffer.alloc(4 + 8 * entries.length);
  list.writeUInt32LE(2);
  for (const [at, [tag, permissions, id]] of entries.entries()) {
    list.writeUInt16LE(tag, 4 + 8 * at);
    list.writeUInt16LE(permissions, 6 + 8 * at);
    list.writeUInt32LE(id, 8 + 8 * at);
  }
  return list;
}

/** What a program may do (linux/capability.h, revision 2): open raw sockets, as `ping` does. */
const RAW_SOCKETS = Buffer.from('0100000200200000000000000000000000000000', 'hex');
const ACCESS = 'system.posix_acl_access';
const DEFAULT = 'system.posix_acl_default';

const isRoot = process.geteuid?.() === 0;

/** Every attribute of everything in a tree. */
function attributesOf(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const path of ['.', ...readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()])
    for (const name of xattr.listAttributesSync(join(root, path)))
      found[`${path} ${name}`] = xattr.getAttributeSync(join(root, path), name)?.toString('base64') ?? '';
  return found;
}

/** A tree with every kind of attribute that is kept. */
function fill(tree: string): void {
  mkdirSync(join(tree, 'shared'));
  for (const file of ['noted', 'program', 'plain', 'shared/file']) writeFileSync(join(tree, file), file);
  xattr.setAttributeSync(tree, 'user.of-the-tree', 'itself');
  xattr.setAttributeSync(join(tree, 'noted'), 'user.empty', '');
  xattr.setAttributeSync(join(tree, 'noted'), 'user.nöte', Buffer.from([0, 255, 10]));
  xattr.setAttributeSync(join(tree, 'shared/file'), ACCESS, accessList(12_345));
  // Made before, so that nothing in it has a list of its own from it.
  xattr.setAttributeSync(join(tree, 'shared'), DEFAULT, accessList(12_346));
  chmodSync(join(tree, 'program'), 0o755);
  if (isRoot) xattr.setAttributeSync(join(tree, 'program'), 'security.capability', RAW_SOCKETS);
  writeFileSync(join(tree, 'shared/inherits'), '');
}

async function restored(daemon: Daemon, name: string): Promise<Record<string, string>> {
  const folder = join(temporaryFolder(), 'restored');
  expect(await run(daemon, `restore ${name} ${folder}`)).toMatchObject({
    code: 0,
    err: expect.stringMatching(/^restored system to \S+: \d+ entries\n$/),
  });
  return attributesOf(folder);
}

describe('extended attributes and access control lists', () => {
  it('are saved, known again without reading, and restored', async (context) => {
    requireAttributes(context);
    const daemon = await startDaemon();
    fill(daemon.tree);
    const before = attributesOf(daemon.tree);
    expect(Object.keys(before)).toEqual(
      expect.arrayContaining(['. user.of-the-tree', 'noted user.nöte', `shared/inherits ${ACCESS}`]),
    );
    if (isRoot) expect(Object.keys(before)).toContain('program security.capability');
    // What is as young as a save is read again by the next one.
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const name of ['one', 'two', 'three']) await daemon.save(name);
    for (const name of ['one', 'three']) expect(await restored(daemon, name)).toEqual(before);
  });

  it('are the same again after going back, and nothing else has any', async (context) => {
    requireAttributes(context);
    const { tree, boot } = host();
    const daemon = await boot('ro');
    fill(tree);
    const before = attributesOf(tree);
    await daemon.save('good');
    xattr.setAttributeSync(tree, 'user.of-the-tree', 'another');
    xattr.removeAttributeSync(join(tree, 'noted'), 'user.nöte');
    xattr.setAttributeSync(join(tree, 'plain'), 'user.more', 'x');
    xattr.removeAttributeSync(join(tree, 'shared'), DEFAULT);
    rmSync(join(tree, 'shared/inherits'));
    // Content written anew, and another owner, take from a file what it may do.
    writeFileSync(join(tree, 'program'), 'replaced');
    if (isRoot) chownSync(join(tree, 'program'), 1, 1);
    expect(attributesOf(tree)).not.toEqual(before);
    expect(await callExtra(daemon, 'RequestRevert', { stateName: 'good' })).toMatchObject({ code: 0 });
    await daemon.service.close(0);
    const again = await boot('ro');
    expect(await again.call('PrepareBoot')).toMatchObject({ code: 0, results: [{ changed: true }] });
    expect(attributesOf(tree)).toEqual(before);
  });

  it('are told in what differs', async (context) => {
    requireAttributes(context);
    const daemon = await startDaemon();
    fill(daemon.tree);
    await daemon.save('one');
    xattr.setAttributeSync(join(daemon.tree, 'plain'), 'user.more', 'x');
    xattr.removeAttributeSync(join(daemon.tree, 'shared'), DEFAULT);
    await daemon.save('two');
    const answer = await callExtra(daemon, 'Diff', { stateName: 'one', otherStateName: 'two' });
    expect(answer.results[0]?.['changes']).toMatchObject({
      changes: [
        { path: 'plain', attributes: true, content: false, mode: false },
        { path: 'shared', attributes: true },
      ],
    });
  });

  it('of a program that is not root’s own are not believed', async (context) => {
    requireAttributes(context);
    if (!isRoot) skipWithout(context, 'root, who alone can set them,');
    const daemon = await startDaemon();
    fill(daemon.tree);
    chownSync(join(daemon.tree, 'program'), 12_345, 12_345);
    xattr.setAttributeSync(join(daemon.tree, 'program'), 'security.capability', RAW_SOCKETS);
    await daemon.save('one');
    expect(Object.keys(await restored(daemon, 'one'))).not.toContain('program security.capability');
  });
});
