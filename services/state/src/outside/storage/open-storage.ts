import { lstat, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '@croft/runtime';
import type { Machine } from '../../model/model.ts';
import { pathText } from '../../model/path-text.ts';
import { parseCommandLine } from '../../rules/command-line.ts';
import type { StateSettings } from '../../settings.ts';
import type { Storage } from './storage.ts';
import { openVault } from './vault/vault.ts';

/**
 * Opens the storage that the settings choose.
 * @param folder the daemon's own folder; the vault lies in it and never contains it
 * @throws StartError when it is not there or makes no sense
 */
export async function openStorage(settings: StateSettings, folder: string): Promise<Storage> {
  if (settings.STORAGE === 'zfs' || settings.STORAGE === 'btrfs') {
    throw new StartError(
      `STATESVC_STORAGE=${settings.STORAGE}: this version has no ${settings.STORAGE} driver yet. Use STATESVC_STORAGE=vault, which works on every file system.`,
    );
  }
  const machine = await vaultMachine(settings, folder);
  return openVault({ folder: join(folder, 'vault'), machine, leaveOut: folder });
}

/** On the vault a machine is the folder that is its system; another folder is another machine with its own states. */
async function vaultMachine(settings: StateSettings, folder: string): Promise<Machine> {
  const { state: booted } = parseCommandLine(await readFile(settings.CMDLINE_FILE, 'utf8').catch(() => ''));
  const base = {
    current: true,
    bootedState: booted,
    nextState: undefined,
    prepared: undefined,
    kernel: '',
    lastUsedAt: undefined,
  };
  if (settings.VAULT_SYSTEM === 'none') return { ...base, id: 'vault:none', managed: false, datasets: [] };
  const path = await systemFolder(settings.VAULT_SYSTEM, folder);
  return {
    ...base,
    id: `vault:${path}`,
    managed: true,
    datasets: [{ name: 'system', role: 'system', path }],
  };
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
