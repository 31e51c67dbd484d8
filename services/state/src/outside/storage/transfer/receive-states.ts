import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { notEnoughSpace } from '../../../failures.ts';
import { badImport } from '../../../failures-extras.ts';
import type { Member } from '../../../model/model.ts';
import { isHash } from '../../../rules/contents/exported-entry.ts';
import { readExported } from '../../../rules/contents/exported-states.ts';
import { sizeText } from '../../../rules/machines/sizes.ts';
import type { Received, ReceiveRequest } from '../storage.ts';
import { PIECE_BYTES } from '../vault/content/copy-content.ts';
import type { Objects } from '../vault/content/objects.ts';
import { Staging } from '../vault/content/staging.ts';
import { ByteReader } from './byte-reader.ts';
import { type Counted, Inventory, MAX_ENTRIES, ReceivedManifest } from './received-manifest.ts';
import { DESCRIPTION } from './send-states.ts';
import { BLOCK, paddingOf, readPaxSize, readTarHeader } from './tar.ts';

const MAX_DESCRIPTION_BYTES = 8 * 1024 * 1024;
/** Room for the longest sensible list of files; what is in it is kept in memory. */
const MAX_MANIFEST_BYTES = 1024 * MAX_ENTRIES;

/** Takes in an archive of states: what it holds lies in a folder of its own, checked, on the disk, and part of nothing yet. */
export class StatesReceiver {
  readonly #objects: Objects;
  readonly #folder: string;
  readonly #request: ReceiveRequest;
  readonly #reader: ByteReader;
  /** What its lists name. */
  readonly inventory = new Inventory();
  readonly #staging: Staging;

  /** @param folder where it will lie; not there yet */
  constructor(objects: Objects, folder: string, request: ReceiveRequest) {
    this.#objects = objects;
    this.#folder = folder;
    this.#request = request;
    this.#staging = new Staging(objects, folder, request);
    this.#reader = new ByteReader(request.content);
  }

  /** @returns the states, whose members are here now @throws INVALID_ARGUMENT, RESOURCE_EXHAUSTED */
  async run(): Promise<Received> {
    await mkdir(this.#folder, { mode: 0o700 });
    try {
      const { driver, states } = await this.#description();
      this.#request.check(states);
      const counted = new Map<string, Counted>();
      for (const { snapshot } of states.flatMap(({ members }) => members)) {
        if (!isHash(snapshot)) throw badImport('a member has no list of files');
        if (!counted.has(snapshot)) counted.set(snapshot, await this.#manifest(snapshot));
      }
      await this.#checkRoom();
      await this.#contents();
      await this.#staging.finish();
      return { driver, states: states.map((state) => ({ ...state, members: state.members.map(here) })) };

      function here(member: Member): Member {
        return { ...member, guid: randomUUID(), ...counted.get(member.snapshot) };
      }
    } finally {
      await this.#staging.settle();
    }
  }

  async #description(): Promise<Received> {
    const size = await this.#expect(DESCRIPTION);
    if (size > MAX_DESCRIPTION_BYTES) throw badImport('its description is too long');
    const text = (await this.#reader.read(size)).toString();
    await this.#padding(size);
    return readExported(text);
  }

  async #manifest(hash: string): Promise<Counted> {
    const size = await this.#expect(`manifests/${hash}`);
    if (size > MAX_MANIFEST_BYTES) throw badImport('a list of files is too long');
    const manifest = new ReceivedManifest(this.inventory);
    await this.#staging.put(hash, size, false, this.#parts(size), (bytes) => manifest.add(bytes));
    await this.#padding(size);
    manifest.end();
    return manifest.counted;
  }

  /** Before the long part: what the lists name and is not here must fit. */
  async #checkRoom(): Promise<void> {
    const { budget } = this.#request;
    const { wanted } = this.inventory;
    let needed = 0;
    for (const { size, sparse } of wanted.values()) if (!sparse) needed += size;
    for (const [hash, { size, sparse }] of needed > budget ? wanted : [])
      if (!sparse && (await this.#objects.has(hash))) needed -= size;
    if (needed > budget)
      throw notEnoughSpace(this.#objects.folder, `${sizeText(budget)} above the reserve`, sizeText(needed));
  }

  async #contents(): Promise<void> {
    const received = new Set<string>();
    for (let file = await this.#next(); file !== undefined; file = await this.#next()) {
      this.#request.signal.throwIfAborted();
      const { name, size } = file;
      const hash = name.startsWith('objects/') ? name.slice('objects/'.length) : '';
      const wanted = this.inventory.wanted.get(hash);
      if (wanted === undefined || received.has(hash))
        throw badImport(`nothing in it needs ${JSON.stringify(name)}`);
      if (wanted.size !== size) throw badImport(`the content ${hash} has another size than its entry`);
      received.add(hash);
      const parts = wanted.sparse ? this.#measured(hash, size) : this.#parts(size);
      await this.#staging.put(hash, size, wanted.sparse, parts);
      await this.#padding(size);
    }
    for (const hash of this.inventory.wanted.keys())
      if (!received.has(hash)) throw badImport(`the content ${hash} is missing`);
  }

  /** The size of the file that comes next and must be this one. */
  async #expect(name: string): Promise<number> {
    const file = await this.#next();
    if (file?.name !== name) throw badImport(`${name.slice(0, 20)}… is not where it should be`);
    return file.size;
  }

  /** The next file; undefined at the end of the archive, after which nothing comes. */
  async #next(): Promise<{ name: string; size: number } | undefined> {
    const header = readTarHeader(await this.#reader.read(BLOCK));
    if (header.kind === 'file') return header;
    if (header.kind === 'end') {
      const isEnd = readTarHeader(await this.#reader.read(BLOCK)).kind === 'end';
      if (!isEnd || !(await this.#reader.isAtEnd())) throw badImport('it goes on after its end');
      return undefined;
    }
    if (header.size > BLOCK) throw badImport('it is no archive that an export makes');
    const size = readPaxSize(await this.#reader.read(header.size));
    await this.#padding(header.size);
    const file = readTarHeader(await this.#reader.read(BLOCK));
    if (file.kind !== 'file' || file.size !== 0) throw badImport('it is no archive that an export makes');
    return { name: file.name, size };
  }

  async *#parts(size: number): AsyncGenerator<Buffer> {
    for await (const part of this.#reader.parts(size)) {
      this.#request.signal.throwIfAborted();
      yield part;
    }
  }

  /** Counts what is no hole: only reading it tells, and where it lies the disk may say so later. */
  async *#measured(hash: string, size: number): AsyncGenerator<Buffer> {
    let at = 0;
    let counted = 0;
    for await (const part of this.#parts(size)) {
      const end = at + part.length;
      if (part.some((byte) => byte !== 0)) {
        const from = Math.max(counted, Math.floor(at / PIECE_BYTES));
        counted = Math.ceil(end / PIECE_BYTES);
        this.inventory.addStored(hash, (counted - from) * PIECE_BYTES);
      }
      at = end;
      yield part;
    }
  }

  async #padding(size: number): Promise<void> {
    const padding = paddingOf(size);
    if (padding === 0) return;
    const bytes = await this.#reader.read(padding);
    if (bytes.some((byte) => byte !== 0)) throw badImport('it is no archive that an export makes');
  }
}
