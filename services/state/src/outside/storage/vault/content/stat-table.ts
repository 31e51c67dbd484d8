import { createHash } from 'node:crypto';
import type { Stat } from '../files.ts';
import type { Attributes } from './attributes.ts';

/** What a file was when it was read. */
export interface Remembered {
  readonly hash: string;
  /** Undefined when it had none. */
  readonly attributes?: Attributes;
}

/** The list of files of the last save: the SHA-256 of its text, and of how it is stored. */
export interface RememberedManifest {
  readonly text: string;
  readonly stored: string;
}

/** A table of another layout is none. */
const LAYOUT = 'table 1\n';
const DIGEST_BYTES = 32;
const HEAD_BYTES = DIGEST_BYTES + 8;
/** Device, inode, size, mtime and ctime, eight bytes each; the hash; and which attributes. */
const RECORD_BYTES = 80;
const INODE_AT = 8;
const HASH_AT = 40;
const ATTRIBUTES_AT = 72;

/**
 * Facts of files and what they held, as they lie on the disk: a digest of the rest, how many records, the records, and as JSON
 * what they share. A tree of 200,000 files is one buffer of 16 MB; as many keys in a `Map` would take ten times that and a
 * second of each save.
 */
export class StatTable {
  readonly #attributes: string[];
  readonly #numbers: Map<string, number>;
  readonly manifest: RememberedManifest | undefined;
  #records: Buffer;
  #length: number;
  #places: Int32Array | undefined;

  private constructor(records: Buffer, attributes: string[], manifest: RememberedManifest | undefined) {
    this.#records = records;
    this.#length = records.length / RECORD_BYTES;
    this.#attributes = attributes;
    this.#numbers = new Map(attributes.map((text, at) => [text, at + 1]));
    this.manifest = manifest;
  }

  static empty(): StatTable {
    return new StatTable(Buffer.alloc(0), [], undefined);
  }

  /** Undefined when the bytes are not those of a table, or damaged: a torn write is no table at all. */
  static read(bytes: Buffer): StatTable | undefined {
    if (bytes.length < HEAD_BYTES) return undefined;
    if (!digest([bytes.subarray(DIGEST_BYTES)]).equals(bytes.subarray(0, DIGEST_BYTES))) return undefined;
    const end = HEAD_BYTES + bytes.readUInt32LE(DIGEST_BYTES) * RECORD_BYTES;
    const shared = JSON.parse(bytes.toString('utf8', end)) as Shared;
    return new StatTable(bytes.subarray(HEAD_BYTES, end), shared.attributes, shared.manifest);
  }

  get length(): number {
    return this.#length;
  }

  /** Where the record of a file with these facts is; undefined when there is none. */
  find(stat: Stat): number | undefined {
    const places = (this.#places ??= this.#index());
    const facts = factsOf(stat);
    const inode = facts.readUInt32LE(INODE_AT);
    for (let slot = slotOf(inode, places.length); ; slot++) {
      const record = (places[slot & (places.length - 1)] as number) - 1;
      if (record < 0) return undefined;
      const at = record * RECORD_BYTES;
      if (this.#records.readUInt32LE(at + INODE_AT) !== inode) continue;
      if (this.#records.compare(facts, 0, HASH_AT, at, at + HASH_AT) === 0) return record;
    }
  }

  hashOf(record: number): string {
    const at = record * RECORD_BYTES + HASH_AT;
    return this.#records.toString('hex', at, at + DIGEST_BYTES);
  }

  remembered(record: number): Remembered {
    const number = this.#records.readUInt32LE(record * RECORD_BYTES + ATTRIBUTES_AT);
    const hash = this.hashOf(record);
    if (number === 0) return { hash };
    return { hash, attributes: JSON.parse(this.#attributes[number - 1] as string) as Attributes };
  }

  add(stat: Stat, { hash, attributes }: Remembered): void {
    const at = this.#room();
    factsOf(stat).copy(this.#records, at);
    this.#records.write(hash, at + HASH_AT, 'hex');
    this.#records.writeUInt32LE(
      attributes === undefined ? 0 : this.#number(JSON.stringify(attributes)),
      at + ATTRIBUTES_AT,
    );
  }

  /** Adds a record of another table. */
  take(other: StatTable, record: number): void {
    const at = this.#room();
    const from = record * RECORD_BYTES;
    other.#records.copy(this.#records, at, from, from + RECORD_BYTES);
    const number = this.#records.readUInt32LE(at + ATTRIBUTES_AT);
    if (number > 0)
      this.#records.writeUInt32LE(this.#number(other.#attributes[number - 1] as string), at + ATTRIBUTES_AT);
  }

  /** How it lies on the disk. @param manifest is remembered with it */
  bytes(manifest: RememberedManifest | undefined): Buffer {
    const count = Buffer.alloc(HEAD_BYTES - DIGEST_BYTES);
    count.writeUInt32LE(this.#length);
    const shared: Shared = { attributes: this.#attributes, ...(manifest === undefined ? {} : { manifest }) };
    const records = this.#records.subarray(0, this.#length * RECORD_BYTES);
    const body = [count, records, Buffer.from(JSON.stringify(shared))];
    return Buffer.concat([digest(body), ...body]);
  }

  /** Files of an SELinux system all have attributes, and nearly all the same. */
  #number(attributes: string): number {
    const number = this.#numbers.get(attributes) ?? this.#attributes.push(attributes);
    this.#numbers.set(attributes, number);
    return number;
  }

  #room(): number {
    const at = this.#length++ * RECORD_BYTES;
    this.#places = undefined;
    if (at === this.#records.length) {
      const larger = Buffer.alloc(Math.max(1024 * RECORD_BYTES, 2 * at));
      this.#records.copy(larger);
      this.#records = larger;
    }
    return at;
  }

  /** Numbers of records, plus one, by their inodes; at most half full. */
  #index(): Int32Array {
    const places = new Int32Array(2 ** Math.ceil(Math.log2(2 * this.#length + 2)));
    for (let record = 0; record < this.#length; record++) {
      let slot = slotOf(this.#records.readUInt32LE(record * RECORD_BYTES + INODE_AT), places.length);
      while (places[slot] !== 0) slot = (slot + 1) & (places.length - 1);
      places[slot] = record + 1;
    }
    return places;
  }
}

const words = new BigInt64Array(HASH_AT / 8);
const wordBytes = Buffer.from(words.buffer);

/**
 * What a record begins with, until the next call. Of a time before the year 1677, which anybody can give a file, 64 bits are kept;
 * the change time beside it is true.
 */
function factsOf(stat: Stat): Buffer {
  words[0] = stat.dev;
  words[1] = stat.ino;
  words[2] = stat.size;
  words[3] = stat.mtimeNs;
  words[4] = stat.ctimeNs;
  return wordBytes;
}

/** What records share. */
interface Shared {
  readonly attributes: string[];
  readonly manifest?: RememberedManifest;
}

/** @param inode its lower half @param slots a power of two */
function slotOf(inode: number, slots: number): number {
  return (Math.imul(inode, 0x9e3779b1) >>> 7) & (slots - 1);
}

function digest(parts: readonly Buffer[]): Buffer {
  const hash = createHash('sha256').update(LAYOUT);
  for (const part of parts) hash.update(part);
  return hash.digest();
}
