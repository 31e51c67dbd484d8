import { createHash } from 'node:crypto';
import {
  chmod,
  link,
  lstat,
  lutimes,
  mkdir,
  readdir,
  readFile,
  readlink,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';

/** Makes a directory tree with what system folders hold: modes, links, hard links, empty and large files, odd names. */
export async function sampleTree(folder: string): Promise<void> {
  for (const name of ['conf.d', 'deep/er/est', 'empty', 'ssl/private'])
    await mkdir(join(folder, name), { recursive: true });
  for (let index = 0; index < 300; index++)
    await writeFile(join(folder, `conf.d/${index}.conf`), `number = ${index}\n`);
  await writeFile(join(folder, 'ssl/private/key.pem'), 'secret\n', { mode: 0o600 });
  await writeFile(join(folder, 'script.sh'), '#!/bin/sh\n');
  await chmod(join(folder, 'script.sh'), 0o4755);
  await chmod(join(folder, 'ssl/private'), 0o710);
  await writeFile(join(folder, 'empty-file'), '');
  await writeFile(join(folder, 'large'), Buffer.alloc(3 * 1024 * 1024, 'croft'));
  await writeFile(join(folder, 'deep/er/est/naïve – “name”\nwith a line break'), 'odd\n');
  await link(join(folder, 'large'), join(folder, 'deep/large-again'));
  await symlink('../script.sh', join(folder, 'conf.d/link'));
  await symlink('/nowhere/at/all', join(folder, 'dangling'));
  await utimes(join(folder, 'script.sh'), 1_600_000_000, 1_600_000_000.123);
  await lutimes(join(folder, 'dangling'), 1_600_000_001, 1_600_000_001);
}

/** An entry of a tree: everything about it but its time, as text, and its time. */
export interface Entry {
  readonly text: string;
  /** Of files and links; a folder's changes with what is put into it. */
  readonly mtimeNs: bigint;
}

/** Every entry under a folder: type, mode, owner, and contents or target. */
export async function describeTree(folder: string): Promise<Entry[]> {
  const names = (await readdir(folder, { recursive: true })).sort();
  return await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const stat = await lstat(path, { bigint: true });
      const about = `${name} ${stat.mode.toString(8)} ${stat.uid}:${stat.gid}`;
      if (stat.isDirectory()) return { text: about, mtimeNs: 0n };
      if (stat.isSymbolicLink())
        return { text: `${about} -> ${await readlink(path)}`, mtimeNs: stat.mtimeNs };
      const hash = createHash('sha256')
        .update(await readFile(path))
        .digest('hex');
      return { text: `${about} ${hash} links=${stat.nlink}`, mtimeNs: stat.mtimeNs };
    }),
  );
}

/** Fails unless both trees are the same; times may differ by the microsecond that Node's `utimes` cannot set. */
export function expectSameTree(actual: readonly Entry[], expected: readonly Entry[]): void {
  expect(actual.map(({ text }) => text)).toEqual(expected.map(({ text }) => text));
  const late = actual.filter(({ mtimeNs }, index) => {
    const difference = mtimeNs - (expected[index]?.mtimeNs ?? 0n);
    return difference > 1_000n || difference < -1_000n;
  });
  expect(late).toEqual([]);
}
