import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import type { Dump } from './daemon.ts';

/** What a file of the vault says. */
const json = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

const objectsOf = (vault: string): string[] =>
  readdirSync(join(vault, 'objects')).flatMap((shard) =>
    readdirSync(join(vault, 'objects', shard)).map((rest) => shard + rest),
  );

const readObject = (vault: string, hash: string): Buffer =>
  readFileSync(join(vault, 'objects', hash.slice(0, 2), hash.slice(2)));

/** Lists of files are compressed where they were saved, and as they came where they were imported. */
export const readManifest = (vault: string, hash: string): Buffer => {
  const bytes = readObject(vault, hash);
  return bytes[0] === 0x1f ? gunzipSync(bytes) : bytes;
};

/**
 * What the daemon says is what the vault holds, read from outside: records and homes are those of the dump, every object is
 * there and is what its name says, and none is too many.
 */
export function checkVault(folder: string, dump: Dump): void {
  const vault = join(folder, 'vault');
  const states = dump.machines.flatMap((machine) => machine.states);
  const records = readdirSync(join(vault, 'states')).filter((name) => name.endsWith('.json'));
  const stored = records.flatMap((name) => json(join(vault, 'states', name)).states as { id: string }[]);
  expect(stored.map(({ id }) => id).sort()).toEqual(states.map(({ id }) => id).sort());
  const homes = existsSync(join(vault, 'homes.json')) ? json(join(vault, 'homes.json')).homes : [];
  expect(homes).toEqual(dump.homes);
  const used = new Set<string>();
  const manifests = new Set(states.flatMap(({ members }) => members).map(({ snapshot }) => snapshot));
  for (const snapshot of manifests) {
    used.add(snapshot);
    for (const line of readManifest(vault, snapshot).toString().trim().split('\n'))
      used.add((JSON.parse(line) as { hash?: string }).hash ?? snapshot);
  }
  expect(objectsOf(vault).sort()).toEqual([...used].sort());
  for (const hash of used)
    expect(createHash('sha256').update(readObject(vault, hash)).digest('hex')).toBe(hash);
  expect(readdirSync(join(vault, 'staging'))).toEqual([]);
}
