import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '@croft/runtime';
import { z } from 'zod';

const manifestSchema = z.object({
  format: z.literal(1),
  made_at: z.string(),
  version: z.string(),
  /** In the order they were applied in. */
  migrations: z.array(z.object({ name: z.string(), checksum: z.string() })),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()), rows: z.int() })),
  sequences: z.array(z.object({ name: z.string(), value: z.int() })),
  repositories: z.array(
    z.object({
      id: z.int(),
      head: z.string(),
      refs: z.int(),
      /** Refs that moved after the rows were read, for the first start to look after. */
      moved: z.array(z.object({ ref: z.string(), before: z.string(), after: z.string() })),
    }),
  ),
  /** Repositories that were removed after the rows were read. */
  gone: z.array(z.int()),
  attachments: z.int(),
});

/** What a backup holds. It is written last: a folder without it is no backup. */
export type Manifest = z.output<typeof manifestSchema>;

const NAME = 'manifest.json';

/** Declares a backup complete. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await writeFile(join(folder, NAME), `${JSON.stringify(manifest, undefined, 2)}\n`, {
    flush: true,
    mode: 0o600,
  });
}

/** @throws StartError when the folder holds no backup, or one of another kind */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, NAME), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new StartError(
      `There is no complete backup in ${folder}: ${join(folder, NAME)} cannot be read (${error.code}).`,
    );
  });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new StartError(`The backup in ${folder} is damaged: ${NAME} is no JSON. Use another one.`, {
      cause: error,
    });
  }
  const manifest = manifestSchema.safeParse(json);
  if (manifest.success) return manifest.data;
  throw new StartError(`The backup in ${folder} cannot be read by this version of Croft.`, {
    cause: manifest.error,
  });
}
