import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** A file `NNNN_name.sql`. */
export interface Migration {
  /** Without the `.sql`. */
  name: string;
  text: string;
  /** SHA-256 of the text as hex: what was applied must not change any more. */
  checksum: string;
}

/** What every schema has, whichever service owns it: the outbox. */
const SHARED = new URL('../migrations/', import.meta.url);

/** The migrations of a service, the shared ones first, in the order of applying. */
export async function readMigrations(folder: URL): Promise<Migration[]> {
  return [...(await readFolder(SHARED)), ...(await readFolder(folder))];
}

async function readFolder(folder: URL): Promise<Migration[]> {
  const names = (await readdir(fileURLToPath(folder)))
    .filter((name) => /^\d{4}_[a-z0-9-]+\.sql$/.test(name))
    .sort();
  return await Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), 'utf8');
      return {
        name: name.replace(/\.sql$/, ''),
        text,
        checksum: createHash('sha256').update(text).digest('hex'),
      };
    }),
  );
}
