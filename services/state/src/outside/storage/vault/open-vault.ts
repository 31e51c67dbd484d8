import { lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '@croft/runtime';
import type { Machine } from '../../../model/model.ts';
import { pathText } from '../../../model/path-text.ts';
import type { StateSettings } from '../../../settings.ts';
import { runningMachine } from '../known-machines.ts';
import type { Storage } from '../storage.ts';
import { openVault } from './vault.ts';

/**
 * Opens the vault that the settings describe.
 * @param folder the daemon's own; the vault lies in it and never contains it
 * @throws StartError when the machine's system makes no sense
 */
export async function openConfiguredVault(settings: StateSettings, folder: string): Promise<Storage> {
  const machine = await vaultMachine(settings, folder);
  return openVault({ folder: join(folder, 'vault'), machine, leaveOut: folder });
}

/** On the vault a machine is the folder that is its system; another folder is another machine with its own states. */
async function vaultMachine(settings: StateSettings, folder: string): Promise<Machine> {
  const { VAULT_SYSTEM: system, CMDLINE_FILE: commandLine } = settings;
  if (system === 'none')
    return runningMachine(commandLine, { id: 'vault:none', managed: false, datasets: [] });
  const path = await systemFolder(system, folder);
  const datasets = [{ name: 'system', role: 'system', path }] as const;
  return runningMachine(commandLine, { id: `vault:${path}`, managed: true, datasets });
}

async function systemFolder(given: string, folder: string): Promise<string> {
  const bytes = await realpath(given, { encoding: 'latin1' }).catch((error) => {
    throw new StartError(
      `STATESVC_VAULT_SYSTEM=${given}: ${(error as Error).message}. Name a folder that is there, or "none" when this machine has no states.`,
    );
  });
  if (!(await lstat(Buffer.from(bytes, 'latin1'))).isDirectory()) {
    throw new StartError(
      `STATESVC_VAULT_SYSTEM=${given} is no folder. Name the folder that is this machine's system.`,
    );
  }
  const own = await realpath(folder, { encoding: 'latin1' });
  if (bytes === own || bytes.startsWith(`${own}/`)) {
    throw new StartError(
      `STATESVC_VAULT_SYSTEM=${given} lies in ${folder}, where the states are kept: a state would contain the states. Choose another folder.`,
    );
  }
  return pathText(bytes);
}
