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
}
