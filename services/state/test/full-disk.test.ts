import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mountSmallDisk } from '@croft/testing';
import { describe, expect, it } from 'vitest';
import { collect, startDaemon, temporaryFolder, treeFacts, vaultFacts } from './daemon.ts';
import { exported, openImport } from './extras-client.ts';

const MIB = 1024 * 1024;
/** Of an import, what fits a message. */
const PIECE = 60_000;

/** A daemon on a small disk that is to keep a fifth of it, and an import of 20 MiB to it that has said its name. */
async function importOnto(disk: string) {
  const other = await startDaemon();
  writeFileSync(join(other.tree, 'large'), randomBytes(20 * MIB));
  await other.save('foreign');
  const archive = await exported(other, { stateName: 'foreign' });
  const settings = { STATESVC_MIN_FREE: '20' };
  const daemon = await startDaemon({ folder: join(disk, 'state'), settings });
  const stream = openImport(daemon);
  const answer = collect(stream, {});
  const send = (from: number, to: number) => {
    for (let at = from; at < to; at += PIECE)
      stream.write({ content: archive.subarray(at, Math.min(at + PIECE, to)) });
  };
  stream.write({ header: { stateName: '' } });
  return { daemon, stream, answer, archive, send };
}

describe('a full disk', () => {
  it('ends a save with nothing left of it, and the next save works', async (context) => {
    const disk = temporaryFolder();
    await using _disk = await mountSmallDisk(context, disk, '4m');
    const daemon = await startDaemon({ folder: join(disk, 'state') });
    writeFileSync(join(daemon.tree, 'small'), 'x');
    await daemon.save('before');
    const before = [await daemon.dump(), vaultFacts(daemon.folder).filter((fact) => !fact.endsWith('/'))];
    for (let file = 0; file < 10; file++)
      writeFileSync(join(daemon.tree, `f${file}`), Buffer.alloc(900_000, `${file}`));
    const answer = await daemon.call('SaveSystemState', { stateName: 'too-large' });
    expect(answer).toMatchObject({ code: 8, results: [] });
    expect(answer.details).toContain('not enough free space on');
    expect([await daemon.dump(), vaultFacts(daemon.folder).filter((fact) => !fact.endsWith('/'))]).toEqual(
      before,
    );
    for (let file = 0; file < 10; file++) rmSync(join(daemon.tree, `f${file}`));
    expect(await daemon.save('after')).toBe('after');
  });

  it('does not keep anybody from removing states, which makes room', async (context) => {
    const disk = temporaryFolder();
    await using _disk = await mountSmallDisk(context, disk, '8m');
    const daemon = await startDaemon({ folder: join(disk, 'state') });
    writeFileSync(join(daemon.tree, 'large'), Buffer.alloc(2_000_000, 'x'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await daemon.save('doomed');
    execFileSync('sh', ['-c', 'cat /dev/zero > "$0" || true', join(disk, 'filler')], { stdio: 'ignore' });
    expect((await daemon.call('SaveSystemState', { stateName: 'no-room' })).code).toBe(8);
    const answer = await daemon.call('RemoveSystemState', { stateName: 'doomed' });
    expect(answer).toMatchObject({ code: 0, order: ['log', 'log', 'log'] });
    expect((await daemon.dump()).machines[0]?.states).toEqual([]);
    expect(await daemon.save('room-again')).toBe('room-again');
    execFileSync('sh', ['-c', 'cat /dev/zero >> "$0" || true', join(disk, 'filler')], { stdio: 'ignore' });
    await daemon.service.close(0);
  });

  it('ends a way back with a reason, and it goes on when there is room', async (context) => {
    const disk = temporaryFolder();
    await using _disk = await mountSmallDisk(context, disk, '4m');
    const [tree, filler] = [join(disk, 'tree'), join(disk, 'filler')];
    mkdirSync(tree);
    const [folder, cmdline] = [join(temporaryFolder(), 'state'), join(temporaryFolder(), 'cmdline')];
    const first = await startDaemon({ folder, tree });
    writeFileSync(join(tree, 'large'), Buffer.alloc(2_000_000, 'x'));
    await first.save('good');
    const before = treeFacts(tree);
    const id = (await first.dump()).machines[0]?.states[0]?.id;
    await first.service.close(0);
    rmSync(join(tree, 'large'));
    execFileSync('sh', ['-c', 'cat /dev/zero > "$0" || true', filler], { stdio: 'ignore' });
    writeFileSync(cmdline, `statesvc.state=${id}\n`);
    const daemon = await startDaemon({ folder, tree, settings: { STATESVC_CMDLINE_FILE: cmdline } });
    const answer = await daemon.call('PrepareBoot');
    expect(answer).toMatchObject({ code: 8, results: [] });
    expect(answer.details).toContain(`not enough free space on the disk of ${tree}`);
    expect(readdirSync(tree)).toEqual([]);
    rmSync(filler);
    expect(await daemon.call('PrepareBoot')).toMatchObject({ code: 0, results: [{ changed: true }] });
    expect(treeFacts(tree)).toEqual(before);
  });

  it('has its reserve left when an import stalls on what a save was promised, and the save comes first', async (context) => {
    const disk = temporaryFolder();
    await using _disk = await mountSmallDisk(context, disk, '40m');
    const { daemon, answer, send } = await importOnto(disk);
    send(0, 1 * MIB);
    await expect.poll(() => readdirSync(join(daemon.folder, 'vault/staging'))).toHaveLength(1);
    for (let file = 0; file < 28; file++) writeFileSync(join(daemon.tree, `f${file}`), randomBytes(MIB));
    const onLine = (line: string) => line.startsWith('saving ') && send(MIB, 8 * MIB);
    const saved = await daemon.call('SaveSystemState', { stateName: 'saved' }, { onLine });
    expect(saved).toMatchObject({ code: 0, results: [{ stateName: 'saved' }] });
    expect(statfsSync(disk).bavail * statfsSync(disk).bsize).toBeGreaterThan(8 * MIB);
    // Nothing more was sent and nobody hung up: it was the save that ended it, or the reserve.
    expect(await answer).toMatchObject({ code: 8, results: [] });
    expect((await daemon.dump()).machines[0]?.states.map(({ name }) => name)).toEqual(['saved']);
    expect(readdirSync(join(daemon.folder, 'vault/staging'))).toEqual([]);
  });

  it('has its reserve left when a save takes what an import was promised', async (context) => {
    const disk = temporaryFolder();
    await using _disk = await mountSmallDisk(context, disk, '40m');
    const { daemon, stream, answer, archive, send } = await importOnto(disk);
    send(0, 2 * MIB);
    await expect.poll(() => readdirSync(join(daemon.folder, 'vault/staging'))).toHaveLength(1);
    writeFileSync(join(daemon.tree, 'large'), randomBytes(25 * MIB));
    expect(await daemon.save('saved')).toBe('saved');
    send(2 * MIB, archive.length);
    stream.end();
    expect(await answer).toMatchObject({
      code: 8,
      details: expect.stringContaining('8.0 MiB (20 %) needed'),
    });
    expect((await daemon.dump()).machines[0]?.states.map(({ name }) => name)).toEqual(['saved']);
    expect(readdirSync(join(daemon.folder, 'vault/staging'))).toEqual([]);
    expect(statfsSync(disk).bavail * statfsSync(disk).bsize).toBeGreaterThan(8 * MIB);
  });
});
