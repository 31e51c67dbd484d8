import { open } from 'node:fs/promises';

/** Makes the names in a folder durable: a rename counts only after this. */
export async function syncFolder(folder: string | Buffer): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
