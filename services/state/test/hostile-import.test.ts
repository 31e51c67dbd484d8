import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { archiveOf } from './archive.ts';
import { collect, type Daemon, startDaemon, vaultFacts } from './daemon.ts';
import { exported, importBytes, openImport } from './extras-client.ts';
import { ATTACKS } from './hostile-archives.ts';
import { fillTree } from './sample-tree.ts';

/** A daemon with one of everything in its system, saved as `one`. */
async function daemonWithState() {
  const daemon = await startDaemon();
  fillTree(daemon.tree);
  await daemon.save('one');
  return daemon;
}

/** Everything there is, to be the same after a refusal. */
const everything = async (daemon: Daemon) => [await daemon.dump(), vaultFacts(daemon.folder)];

describe('a hostile import leaves nothing', () => {
  it.each(ATTACKS)('%s', async (_name, attack, code, says) => {
    const daemon = await daemonWithState();
    const good = await exported(daemon, { stateName: 'one' });
    const before = await everything(daemon);
    const answer = await importBytes(daemon, attack(good), 'evil');
    expect(answer).toMatchObject({ code, results: [], details: expect.stringContaining(says) });
    expect(await everything(daemon)).toEqual(before);
    // And the next one works.
    expect((await importBytes(daemon, good, 'good')).code).toBe(0);
  });

  it.each([
    ['a taken name', 'one', 6],
    ['a name with a slash', 'a/b', 3],
    ['a name of automatic states', 'auto_mine', 3],
  ])('%s', async (_what, name, code) => {
    const daemon = await daemonWithState();
    const good = await exported(daemon, { stateName: 'one' });
    const before = await everything(daemon);
    expect(await importBytes(daemon, good, name)).toMatchObject({ code, results: [] });
    expect(await everything(daemon)).toEqual(before);
  });

  it('a name of its own that no state has', async () => {
    const daemon = await daemonWithState();
    const before = await everything(daemon);
    for (const name of ['../x', 'auto_', 'auto_ABCDEF', ''])
      expect(await importBytes(daemon, archiveOf([], [], { name }))).toMatchObject({ code: 3, results: [] });
    expect(await everything(daemon)).toEqual(before);
  });

  it('content without a header, and a second header', async () => {
    const daemon = await daemonWithState();
    const before = await everything(daemon);
    for (const messages of [
      [{ content: Buffer.from('x') }],
      [],
      [{}],
      [{ header: { stateName: 'a' } }, { header: { stateName: 'b' } }],
    ]) {
      const stream = openImport(daemon);
      const answer = collect(stream, {});
      stream.on('error', () => {});
      for (const message of messages) stream.write(message);
      stream.end();
      expect(await answer).toMatchObject({ code: 3, results: [] });
    }
    expect(await everything(daemon)).toEqual(before);
    expect(readdirSync(join(daemon.folder, 'vault/staging'))).toEqual([]);
  });
});
