import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A file that is open, and empty, and under a name that nobody looks for. */
export interface OpenFile {
  path: string;
  file: number;
}

/** A merge takes as many where one level of folders changed: two trees, the commit, and the branch. */
const SPARES = 4;
const MAX_FOLDERS = 16;
/** One file at a time: whoever wants one meanwhile waits for one at most. */
const REFILL_MS = 2;
const IDLE_MS = 30_000;

/** The files of a folder, the oldest first. */
interface Kept {
  files: OpenFile[];
  usedAt: number;
}

/**
 * Empty files at hand in folders that are written to: to make one takes 0.02 ms, or 0.5 and more where ext4 has to pass over what
 * was deleted in the last minutes, which is always so where git works. What a crash leaves of them goes after the next start.
 */
export class SpareFiles {
  /** By folder; the one used last is the last. */
  readonly #kept = new Map<string, Kept>();
  readonly #wanting = new Set<string>();
  #refilling: NodeJS.Timeout | undefined;
  #ending: NodeJS.Timeout | undefined;

  /** A file in the folder, at hand or made now; whoever takes it closes it, and renames or removes it. */
  take(folder: string): OpenFile {
    const files = this.#kept.get(folder)?.files ?? [];
    for (let one = files.shift(); one !== undefined; one = files.shift()) {
      // Somebody may have tidied up in the folder, such as `git gc --prune=now`.
      if (fstatSync(one.file).nlink > 0) return one;
      closeSync(one.file);
    }
    return make(folder);
  }

  /** Has files at hand again soon, until nobody takes any for half a minute. */
  refill(folder: string): void {
    const files = this.#kept.get(folder)?.files ?? [];
    this.#kept.delete(folder);
    this.#kept.set(folder, { files, usedAt: performance.now() });
    if (this.#kept.size > MAX_FOLDERS) this.forget([...this.#kept.keys()][0] ?? '');
    this.#wanting.add(folder);
    this.#refilling ??= setTimeout(() => this.#addOne(), REFILL_MS);
    this.#ending ??= setTimeout(() => this.#forgetIdle(), IDLE_MS);
  }

  /** Removes what is at hand in a folder; everywhere, when it is empty. */
  forget(folder: string): void {
    for (const each of folder === '' ? [...this.#kept.keys()] : [folder]) {
      for (const { path, file } of this.#kept.get(each)?.files ?? []) {
        closeSync(file);
        rmSync(path, { force: true });
      }
      this.#kept.delete(each);
      this.#wanting.delete(each);
    }
    if (this.#kept.size > 0) return;
    clearTimeout(this.#refilling);
    clearTimeout(this.#ending);
    this.#refilling = undefined;
    this.#ending = undefined;
  }

  #forgetIdle(): void {
    this.#ending = undefined;
    const idleSince = performance.now() - IDLE_MS;
    for (const [folder, { usedAt }] of this.#kept) if (usedAt <= idleSince) this.forget(folder);
    if (this.#kept.size > 0) this.#ending = setTimeout(() => this.#forgetIdle(), IDLE_MS);
  }

  #addOne(): void {
    this.#refilling = undefined;
    for (const folder of [...this.#wanting].slice(0, 1)) {
      const files = this.#kept.get(folder)?.files ?? [];
      try {
        if (files.length < SPARES) files.push(make(folder));
      } catch {
        // The folder went away, or the disk is full: whoever wants one is told.
        this.#wanting.delete(folder);
      }
      if (files.length >= SPARES) this.#wanting.delete(folder);
    }
    if (this.#wanting.size > 0) this.#refilling = setTimeout(() => this.#addOne(), REFILL_MS);
  }
}

function make(folder: string): OpenFile {
  const path = join(folder, `tmp_obj_${randomBytes(6).toString('hex')}`);
  return { path, file: openSync(path, 'wx', 0o600) };
}
