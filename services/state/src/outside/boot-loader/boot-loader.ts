import type { MenuEntry } from '../../rules/boot/boot-menu.ts';

/** What became of a menu. */
export interface Written {
  /** Whether anything was written. */
  readonly changed: boolean;
  /** The entries that are in it. */
  readonly entries: readonly MenuEntry[];
  /** Why others are not, undefined when it has all. */
  readonly lacking: string | undefined;
}

/** A program that starts kernels and shows a menu. */
export interface BootLoader {
  readonly name: 'grub' | 'entries';
  /** Something of ours is in its menu. */
  hasMenu(): Promise<boolean>;
  /**
   * Replaces our part of its menu, as a whole, after checking it; what is the same is not written.
   * @throws FAILED_PRECONDITION when the menu is not accepted or cannot be written, or has no room for any entry; the old one
   * stays, but where entries are files without those that are no longer wanted
   */
  write(entries: readonly MenuEntry[]): Promise<Written>;
  /** Why it cannot boot an entry once and go on as before; undefined when it can. */
  whyNotOnce(): Promise<string | undefined>;
  /**
   * Has the next boot, and no other, take an entry of ours; undefined takes back what was asked of it, and leaves alone what
   * somebody else asked. @throws when it did not take it
   */
  bootOnce(entry: string | undefined): Promise<void>;
  /** The entry of ours that the next boot takes, '' for none; undefined where nothing can tell, as it is not mounted. */
  asked(): Promise<string | undefined>;
}
