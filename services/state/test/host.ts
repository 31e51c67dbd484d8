import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Daemon, startDaemon, temporaryFolder } from './daemon.ts';

/** A machine that is switched on again and again: its folders stay, its command line and boot id are given. */
export function host() {
  const folder = join(temporaryFolder(), 'state');
  const tree = temporaryFolder();
  const kernel = temporaryFolder();
  const [cmdline, bootId] = [join(kernel, 'cmdline'), join(kernel, 'boot_id')];
  let boots = 0;
  const boot = async (line: string): Promise<Daemon> => {
    writeFileSync(bootId, `boot-${boots++}\n`);
    return restart(line);
  };
  const restart = async (line: string, settings = {}): Promise<Daemon> => {
    writeFileSync(cmdline, `${line}\n`);
    return startDaemon({
      folder,
      tree,
      settings: { STATESVC_CMDLINE_FILE: cmdline, STATESVC_BOOT_ID_FILE: bootId, ...settings },
    });
  };
  return { tree, boot, restart };
}
