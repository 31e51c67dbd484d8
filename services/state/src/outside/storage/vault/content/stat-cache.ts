import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { errorCode, type Stat, writeDurably } from '../files.ts';
import type { Attributes } from './attributes.ts';

/** What a file was when it was read. */
export interface Remembered {
  readonly hash: string;
  /** Undefined when it had none. */
  readonly attributes?: Attributes;
}

/** A cache of another layout is none. */
const LAYOUT = 'attributes\n';
const HASH_CHARACTERS = 64;

/**
 * Hashes by everything that changes when a file does. Only the kernel sets the change time, so an equal key means equal
 * content, except for a write in the same tick of the file system's clock as the one we read: files that young are not kept.
 */
export class StatCache {
  readonly #path: string;
  readonly #folder: string;
  readonly #known: ReadonlyMap<string, string>;
  readonly #seen = new Map<string, string>();
  readonly #startedMs: number;
  #changed = false;

  private constructor(path: string, folder: string, known: ReadonlyMap<string, string>, startedMs: number) {
    this.#path = path;
    this.#folder = folder;
    this.#known = known;
    this.#startedMs = startedMs;
  }

  /** Reads the cache of an earlier save; a missing or damaged one is empty. */
  static async open(folder: string, name: string): Promise<StatCache> {
    const path = `${folder}/${name}`;
    // The kernel's clock and not the service's: it is compared with times the kernel gives.
    return new StatCache(path, folder, await readCache(path), Date.now());
  }

  /** What a file was that has not changed since it was read. */
  find(stat: Stat): Remembered | undefined {
    const key = keyOf(stat);
    const value = this.#known.get(key);
    if (value === undefined) return undefined;
    this.#seen.set(key, value);
    return remembered(value);
  }

  /** Remembers what a file's content was when it had these facts. */
  add(stat: Stat, { hash, attributes }: Remembered): void {
    if (tooYoung(stat, this.#startedMs)) return;
    const more = attributes === undefined ? '' : Buffer.from(JSON.stringify(attributes)).toString('base64');
    this.#seen.set(keyOf(stat), hash + more);
    this.#changed = true;
  }

  /** Writes what this save saw; what it did not see is gone or changed. */
  async save(): Promise<void> {
    if (!this.#changed && this.#seen.size === this.#known.size) return;
    await writeCache(this.#path, this.#folder, this.#seen);
  }
}

/** Drops hashes from a cache, because their content is about to go. */
export async function forgetHashes(folder: string, name: string, gone: ReadonlySet<string>): Promise<void> {
  const path = `${folder}/${name}`;
  const known = await readCache(path);
  const kept = new Map([...known].filter(([, value]) => !gone.has(value.slice(0, HASH_CHARACTERS))));
  if (kept.size === known.size) return;
  // On a full disk nothing can be written, and this is what makes room: no cache is better than a wrong one.
  await writeCache(path, folder, kept).catch(() => rm(path, { force: true }));
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

/** A value is the hash, and the attributes if there are any. */
function remembered(value: string): Remembered {
  const hash = value.slice(0, HASH_CHARACTERS);
  if (value.length === HASH_CHARACTERS) return { hash };
  const attributes = Buffer.from(value.slice(HASH_CHARACTERS), 'base64').toString();
  return { hash, attributes: JSON.parse(attributes) as Attributes };
}

/** First line: SHA-256 of the rest, so that a torn write is no cache at all. */
async function writeCache(path: string, folder: string, values: ReadonlyMap<string, string>): Promise<void> {
  let body = '';
  for (const [key, value] of values) body += `${key} ${value}\n`;
  await writeDurably(path, folder, `${digest(body)}\n${body}`);
}

async function readCache(path: string): Promise<Map<string, string>> {
  const known = new Map<string, string>();
  let text: string;
  try {
    text = await readFile(path, 'latin1');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return known;
    throw error;
  }
  const body = text.slice(65);
  if (text.slice(0, 65) !== `${digest(body)}\n`) return known;
  for (let at = 0; at < body.length; ) {
    const end = body.indexOf('\n', at);
    const space = body.indexOf(' ', at);
    known.set(body.slice(at, space), body.slice(space + 1, end));
    at = end + 1;
  }
  return known;
}

function digest(text: string): string {
  return createHash('sha256').update(LAYOUT).update(text, 'latin1').digest('hex');
}
