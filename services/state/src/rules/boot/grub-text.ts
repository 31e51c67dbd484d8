import type { MenuEntry } from './boot-menu.ts';

/** The part of GRUB's menu that is ours: `<this>><id>` names an entry of it. */
export const SUBMENU = 'croft-states';

/** Where GRUB finds the files of an entry. */
export interface GrubPlaces {
  /** What the file system is found by that kernels lie on; undefined to look for the file. */
  readonly foundBy: { readonly kind: 'fs-uuid' | 'label'; readonly text: string } | undefined;
  /** A path of this host as GRUB sees it. */
  readonly pathOf: (path: string) => string;
}

/** A menu as GRUB reads it, for a file that `grub.cfg` sources. */
export function grubText(entries: readonly MenuEntry[], { foundBy, pathOf }: GrubPlaces): string {
  const lines = ['# Written by `croft state update-menu`; changes are lost.'];
  if (entries.length > 0) {
    lines.push(`submenu 'Earlier states' --id '${SUBMENU}' {`);
    for (const { id, title, kernel, options } of entries) {
      const linux = quoted(pathOf(kernel.linux));
      lines.push(
        `  menuentry ${quoted(title)} --class croft --id ${quoted(id)} {`,
        foundBy === undefined
          ? `    search --no-floppy --file --set=root ${linux}`
          : `    search --no-floppy --${foundBy.kind} --set=root ${quoted(foundBy.text)}`,
        `    linux ${[linux, ...options.map(quoted)].join(' ')}`,
        ...(kernel.initrd === undefined ? [] : [`    initrd ${quoted(pathOf(kernel.initrd))}`]),
        '  }',
      );
    }
    lines.push('}');
  }
  return `${lines.join('\n')}\n`;
}

/** One word for GRUB, whatever is in it. Between single quotes nothing is special; control characters are left out. */
function quoted(text: string): string {
  return `'${text.replace(/\p{Cc}/gu, '').replaceAll("'", "'\\''")}'`;
}
