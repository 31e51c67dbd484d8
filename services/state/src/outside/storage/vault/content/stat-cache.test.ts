import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Stat } from '../files.ts';
import { forgetHashes, StatCache, tooYoung } from './stat-cache.ts';

const OLD = 1_700_000_000_123_456_789n;
const stat = (more: Partial<Stat> = {}) =>
  ({ dev: 1n, ino: 2n, size: 3n, mtimeNs: OLD, ctimeNs: OLD, ...more }) as Stat;
const HASH = 'a'.repeat(64);

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'croft-cache-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function filled(): Promise<string> {
  const folder = newFolder();
  const cache = await StatCache.open(folder, 'system');
  cache.add(stat(), { hash: HASH });
  await cache.save();
  return folder;
}

describe('StatCache', () => {
  it('knows a file again only when nothing about it changed', async () => {
    const cache = await StatCache.open(await filled(), 'system');
    expect(cache.find(stat())).toEqual({ hash: HASH });
    const changes: Partial<Stat>[] = [
      { dev: 9n },
      { ino: 9n },
      { size: 9n },
      { mtimeNs: OLD + 1n },
      { ctimeNs: OLD + 1n },
    ];
    for (const change of changes) expect(cache.find(stat(change))).toBeUndefined();
  });

  it('does not keep files as young as the save itself', async () => {
    const folder = newFolder();
    const cache = await StatCache.open(folder, 'system');
    const now = stat({ ctimeNs: BigInt(Date.now()) * 1_000_000n + 1n });
    cache.add(now, { hash: HASH });
    await cache.save();
    expect((await StatCache.open(folder, 'system')).find(now)).toBeUndefined();
  });

  it('knows what else there was to a file, also beside others that had nothing', async () => {
    const folder = newFolder();
    const cache = await StatCache.open(folder, 'system');
    const attributes = { 'user.nöte': 'YQ==' };
    cache.add(stat(), { hash: HASH, attributes });
    cache.add(stat({ ino: 5n }), { hash: HASH });
    await cache.save();
    const next = await StatCache.open(folder, 'system');
    expect([next.find(stat()), next.find(stat({ ino: 5n }))]).toEqual([
      { hash: HASH, attributes },
      { hash: HASH },
    ]);
  });

  it('drops what was not seen any more', async () => {
    const folder = await filled();
    const cache = await StatCache.open(folder, 'system');
    cache.add(stat({ ino: 5n }), { hash: HASH });
    await cache.save();
    const next = await StatCache.open(folder, 'system');
    expect([next.find(stat()), next.find(stat({ ino: 5n }))]).toEqual([undefined, { hash: HASH }]);
  });

  it('believes nothing of a damaged file', async () => {
    const folder = await filled();
    const path = join(folder, 'system');
    writeFileSync(path, readFileSync(path, 'latin1').replace('aaaa', 'bbbb'));
    expect((await StatCache.open(folder, 'system')).find(stat())).toBeUndefined();
  });

  it('forgets hashes whose content goes', async () => {
    const folder = await filled();
    await forgetHashes(folder, 'system', new Set(['b'.repeat(64)]));
    expect((await StatCache.open(folder, 'system')).find(stat())).toEqual({ hash: HASH });
    await forgetHashes(folder, 'system', new Set([HASH]));
    expect((await StatCache.open(folder, 'system')).find(stat())).toBeUndefined();
  });
});

it.each([
  ['well before', 1_000_000_123_000_000n, 1_000_000_500, false],
  ['within a tick of fine clocks', 1_000_000_123_000_000n, 1_000_000_150, true],
  ['after', 1_000_000_123_000_000n, 1_000_000_100, true],
  ['whole seconds, less than two before', 1_000_000_000_000_000n, 1_000_001_500, true],
  ['whole seconds, more than two before', 1_000_000_000_000_000n, 1_000_002_500, false],
])('a file changed %s the start is too young: %s', (_when, changed, startedMs, expected) => {
  expect(tooYoung(stat({ mtimeNs: 0n, ctimeNs: changed }), startedMs)).toBe(expected);
});
