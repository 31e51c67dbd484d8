import type { MenuEntry } from './boot-menu.ts';

/** Paths as the boot loader sees them: from the root of the partition that holds the entries. */
export interface EntryPlaces {
  readonly linux: string;
  readonly initrd: string | undefined;
  /** From /etc/machine-id; empty when there is none. */
  readonly machineId: string;
}

/**
 * An entry by the Boot Loader Specification, type 1. Words with blanks cannot be written there; the kernel's own have none.
 * https://uapi-group.org/specifications/specs/boot_loader_specification/
 */
export function entryText(
  { title, kernel, options }: MenuEntry,
  { linux, initrd, machineId }: EntryPlaces,
): string {
  const lines = [
    ['title', title],
    ['sort-key', 'croft'],
    ['version', kernel.name.replace(/^vmlinuz-/, '')],
    ...(machineId === '' ? [] : [['machine-id', machineId]]),
    ['linux', linux],
    ...(initrd === undefined ? [] : [['initrd', initrd]]),
    ['options', options.join(' ')],
  ];
  return `${lines.map(([key, value]) => `${key} ${oneLine(value ?? '')}`).join('\n')}\n`;
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim();
}
