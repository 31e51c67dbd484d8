import { mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { diskFolder } from '@croft/testing';
import { materialise } from '../../src/outside/storage/vault/trees/materialise.ts';
import { vaultFacts } from '../daemon.ts';
import type { StorageFixture } from './fixture.ts';

/** The vault in a folder. */
export const vault: StorageFixture = {
  name: 'vault',
  missing: () => undefined,
  async open() {
    const base = mkdtempSync(join(diskFolder, 'croft-vault-'));
    const [folder, systemPath, homesFolder] = ['state', 'system', 'homes'].map((name) => join(base, name));
    for (const path of [systemPath, homesFolder]) mkdirSync(path as string);
    const location = join(folder as string, 'vault');
    let restored = 0;
    return {
      folder: folder as string,
      systemPath: systemPath as string,
      homesFolder: homesFolder as string,
      settings: { STATESVC_STORAGE: 'vault', STATESVC_VAULT_SYSTEM: systemPath as string },
      async contentOf({ snapshot }) {
        const target = join(base, `restored-${restored++}`);
        await materialise(location, snapshot, target);
        return target;
      },
      async facts() {
        const records = await readdir(join(location, 'states'));
        return [
          ...vaultFacts(folder as string).filter((fact) => !fact.endsWith(' /')),
          ...records.map((file) => readFileSync(join(location, 'states', file), 'utf8')).sort(),
        ];
      },
      async loseMember({ snapshot }) {
        rmSync(join(location, 'objects', snapshot.slice(0, 2), snapshot.slice(2)));
      },
      async loseRecord({ id, system }) {
        rmSync(join(location, 'states', `${system ?? id}.json`));
      },
      async addForeign() {
        mkdirSync(join(location, 'foreign/of/somebody'), { recursive: true });
      },
      async runShort() {
        const { bavail, blocks } = statfsSync(base);
        return { STATESVC_MIN_FREE: String(Math.min(90, Math.ceil((bavail / blocks) * 100))) };
      },
      async reopen() {},
      async close() {
        rmSync(base, { recursive: true, force: true });
      },
    };
  },
};
