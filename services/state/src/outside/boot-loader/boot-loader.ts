import type { MenuEntry } from '../../rules/boot/boot-menu.ts';

/** A program that starts kernels and shows a menu. */
export interface BootLoader {
  readonly name: 'grub' | 'entries';
  /** Something of ours is in its menu. */
  hasMenu(): Promise<boolean>;
  /**
   * Replaces our part of its menu, as a whole, after checking it; what is the same is not written.
   * @returns whether anything was written
   * @throws FAILED_PRECONDITION when the menu is not accepted or cannot be written; the old one stays
   */
  write(entries: readonly MenuEntry[]): Promise<boolean>;
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
