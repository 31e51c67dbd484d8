import { createHash } from 'node:crypto';
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

  it('knows a file that claims to be of a year before 1677, which is no number of 64 bits', async () => {
    const folder = newFolder();
    const early = stat({ mtimeNs: -(2n ** 63n) - 5n });
    const cache = await StatCache.open(folder, 'system');
    cache.add(early, { hash: HASH });
    await cache.save();
    const next = await StatCache.open(folder, 'system');
    expect(next.find(early)).toEqual({ hash: HASH });
    expect(next.find({ ...early, mtimeNs: early.mtimeNs + 1n } as Stat)).toBeUndefined();
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
    const bytes = readFileSync(path);
    const at = bytes.indexOf(Buffer.from(HASH, 'hex'));
    bytes[at] = 0;
    writeFileSync(path, bytes);
    expect(at).toBeGreaterThan(0);
    expect((await StatCache.open(folder, 'system')).find(stat())).toBeUndefined();
    for (const length of [0, 20, 50]) {
      writeFileSync(path, bytes.subarray(0, length));
      expect((await StatCache.open(folder, 'system')).find(stat())).toBeUndefined();
    }
  });

  it('knows each of many files, also those that share an inode number or attributes', async () => {
    const folder = newFolder();
    const facts = Array.from({ length: 3000 }, (_, at) => ({
      stat: stat({ dev: BigInt(at % 2), ino: BigInt(at >> 1) * 4096n, size: BigInt(at) }),
      hash: createHash('sha256').update(String(at)).digest('hex'),
      ...(at % 3 === 0 ? {} : { attributes: { 'security.selinux': `${at % 3}` } }),
    }));
    const cache = await StatCache.open(folder, 'system');
    for (const { stat: one, ...what } of facts) cache.add(one, what);
    await cache.save();
    const next = await StatCache.open(folder, 'system');
    for (const { stat: one, ...what } of facts.slice(1000)) expect(next.find(one)).toEqual(what);
    await next.save();
    const last = await StatCache.open(folder, 'system');
    for (const [at, { stat: one, ...what }] of facts.entries())
      expect(last.find(one)).toEqual(at < 1000 ? undefined : what);
  });

  it('knows the last list of files only as long as it has found nothing new', async () => {
    const folder = newFolder();
    const manifest = { text: HASH, stored: 'b'.repeat(64) };
    const cache = await StatCache.open(folder, 'system');
    cache.manifest = manifest;
    await cache.save();
    const next = await StatCache.open(folder, 'system');
    expect(next.manifest).toEqual(manifest);
    next.add(stat(), { hash: HASH });
    expect(next.manifest).toBeUndefined();
    await forgetHashes(folder, 'system', new Set([manifest.stored]));
    expect((await StatCache.open(folder, 'system')).manifest).toBeUndefined();
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
