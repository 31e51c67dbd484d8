import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Boot } from '../context.ts';
import { parseCommandLine } from '../rules/boot/command-line.ts';
import type { StateSettings } from '../settings.ts';

/** The boot that the daemon runs in. Without a kernel that tells, each daemon counts as a boot of its own. */
export async function readBoot(settings: StateSettings): Promise<Boot> {
  const read = (file: string) => readFile(file, 'utf8').catch(() => '');
  const text = await read(settings.CMDLINE_FILE);
  return {
    id: (await read(settings.BOOT_ID_FILE)).trim() || randomUUID(),
    commandLine: parseCommandLine(text),
    text,
    settings,
  };
}
