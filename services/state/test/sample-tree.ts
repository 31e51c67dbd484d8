import { chmodSync, linkSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { materialise } from '../src/outside/storage/vault/trees/materialise.ts';
import { type Daemon, temporaryFolder } from './daemon.ts';

/** A tree with one of everything a system folder has. */
export function fillTree(tree: string): void {
  mkdirSync(join(tree, 'sub/deep/er'), { recursive: true });
  writeFileSync(join(tree, 'hosts'), '127.0.0.1 localhost\n');
  writeFileSync(join(tree, 'empty'), '');
  writeFileSync(join(tree, 'sub/secret'), 'password', { mode: 0o600 });
  writeFileSync(join(tree, 'sub/tool'), '#!/bin/sh\n');
  chmodSync(join(tree, 'sub/tool'), 0o4755);
  chmodSync(join(tree, 'sub/deep'), 0o1750);
  writeFileSync(join(tree, 'large'), Buffer.alloc(700_001, 'croft '));
  linkSync(join(tree, 'hosts'), join(tree, 'sub/hosts-too'));
  symlinkSync('../hosts', join(tree, 'sub/to-hosts'));
  symlinkSync('/nowhere/at all', join(tree, 'broken'));
  writeFileSync(Buffer.concat([Buffer.from(`${tree}/latin-`), Buffer.from([0xe9, 0x0a, 0xff])]), 'bytes');
  writeFileSync(join(tree, 'ünïcödé 100% "quoted"'), 'text');
  utimesSync(join(tree, 'hosts'), 1_234_567_890.123456, 1_234_567_890.123456);
  utimesSync(join(tree, 'sub/deep'), 981_173_106, 981_173_106);
}

/** Puts a state of the current machine, or of one of its users, into a new folder. */
export async function restore(
  daemon: Daemon,
  name: string,
  user: string | null = null,
): Promise<{ target: string; problems: readonly string[] }> {
  const { machines, storage } = await daemon.dump();
  const state = machines[0]?.states.find((one) => one.name === name && one.user === user);
  const target = join(temporaryFolder(), 'restored');
  const { problems } = await materialise(storage.location, state?.members[0]?.snapshot as string, target);
  return { target, problems };
}
