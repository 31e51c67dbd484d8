import { readFile, rm } from 'node:fs/promises';
import { writeDurably } from '../../../write-durably.ts';
import { errorCode, type Stat } from '../files.ts';
import { type Remembered, type RememberedManifest, StatTable } from './stat-table.ts';

/**
 * Hashes by everything that changes when a file does. Only the kernel sets the change time, so an equal key means equal
 * content, except for a write in the same tick of the file system's clock as the one we read: files that young are not kept.
 */
export class StatCache {
  readonly #path: string;
  readonly #folder: string;
  readonly #known: StatTable;
  /** Of each record of `known`, whether this save saw it. */
  readonly #seen: Uint8Array;
  readonly #added = StatTable.empty();
  readonly #startedMs: number;
  #seenCount = 0;
  #changed = false;
  #manifest: RememberedManifest | undefined;

  private constructor(path: string, folder: string, known: StatTable, startedMs: number) {
    this.#path = path;
    this.#folder = folder;
    this.#known = known;
    this.#seen = new Uint8Array(known.length);
    this.#manifest = known.manifest;
    this.#startedMs = startedMs;
  }

  /** Reads the cache of an earlier save; a missing or damaged one is empty. */
  static async open(folder: string, name: string): Promise<StatCache> {
    const path = `${folder}/${name}`;
    // The kernel's clock and not the service's: it is compared with times the kernel gives.
    return new StatCache(path, folder, await readTable(path), Date.now());
  }

  /** What a file was that has not changed since it was read. */
  find(stat: Stat): Remembered | undefined {
    const record = this.#known.find(stat);
    if (record === undefined) return undefined;
    if (this.#seen[record] === 0) this.#seenCount++;
    this.#seen[record] = 1;
    return this.#known.remembered(record);
  }

  /** Remembers what a file's content was when it had these facts. */
  add(stat: Stat, what: Remembered): void {
    if (tooYoung(stat, this.#startedMs)) return;
    this.#added.add(stat, what);
    this.#changed = true;
  }

  /** The list that the last save wrote, unless this one found files that it did not know. */
  get manifest(): RememberedManifest | undefined {
    return this.#changed ? undefined : this.#manifest;
  }

  /** Remembers the list that this save wrote. */
  set manifest(manifest: RememberedManifest) {
    this.#manifest = manifest;
    this.#changed = true;
  }

  /** Writes what this save saw; what it did not see is gone or changed. */
  async save(): Promise<void> {
    if (!this.#changed && this.#seenCount === this.#known.length) return;
    for (let record = 0; record < this.#known.length; record++)
      if (this.#seen[record] === 1) this.#added.take(this.#known, record);
    await writeDurably(this.#path, this.#folder, this.#added.bytes(this.#manifest));
  }
}

/** Drops hashes from a cache, because their content is about to go. */
export async function forgetHashes(folder: string, name: string, gone: ReadonlySet<string>): Promise<void> {
  const path = `${folder}/${name}`;
  const known = await readTable(path);
  const kept = StatTable.empty();
  for (let record = 0; record < known.length; record++)
    if (!gone.has(known.hashOf(record))) kept.take(known, record);
  const manifest = gone.has(known.manifest?.stored ?? '') ? undefined : known.manifest;
  if (kept.length === known.length && manifest === known.manifest) return;
  // On a full disk nothing can be written, and this is what makes room: no cache is better than a wrong one.
  await writeDurably(path, folder, kept.bytes(manifest)).catch(() => rm(path, { force: true }));
}

/** The facts that identify an unchanged file. */
export function keyOf(stat: Stat): string {
  return `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
}

/** File systems that count whole or even seconds show it in their times; the others tick at least every 10 ms. */
const COARSE_TICK_MS = 2000;
const FINE_TICK_MS = 50;

/** A later write could leave the same times as the one we saw. */
export function tooYoung(stat: Stat, startedMs: number): boolean {
  const newest = stat.ctimeNs > stat.mtimeNs ? stat.ctimeNs : stat.mtimeNs;
  const tick = newest % 1_000_000_000n === 0n ? COARSE_TICK_MS : FINE_TICK_MS;
  return Number(newest / 1_000_000n) >= startedMs - tick;
}

async function readTable(path: string): Promise<StatTable> {
  try {
    return StatTable.read(await readFile(path)) ?? StatTable.empty();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return StatTable.empty();
    throw error;
  }
}
