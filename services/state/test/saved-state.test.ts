import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startDaemon, temporaryFolder, treeFacts, vaultFacts } from './daemon.ts';
import { fillTree, restore } from './sample-tree.ts';

describe('a saved state', () => {
  it('brings back every file, mode, owner, time and link', async () => {
    const daemon = await startDaemon();
    fillTree(daemon.tree);
    const before = treeFacts(daemon.tree);
    expect(Object.keys(before)).toHaveLength(14);
    await daemon.save('all');
    // What happens to the tree afterwards is nothing to the state.
    writeFileSync(join(daemon.tree, 'hosts'), 'changed');
    rmSync(join(daemon.tree, 'sub'), { recursive: true });
    const { target, problems } = await restore(daemon, 'all');
    expect(treeFacts(target)).toEqual(before);
    expect(problems).toEqual([]);
  });

  it('holds what the tree was at its time, not before and not after', async () => {
    const daemon = await startDaemon();
    const file = join(daemon.tree, 'file');
    for (const content of ['one', 'two', 'six']) {
      // Same length within the same tick: only the change time tells them apart, and not always.
      writeFileSync(file, content);
      await daemon.save(content);
    }
    for (const content of ['one', 'two', 'six']) {
      const { target } = await restore(daemon, content);
      expect(readFileSync(join(target, 'file'), 'utf8')).toBe(content);
    }
  });

  it('keeps holes as holes', async () => {
    const daemon = await startDaemon();
    const path = join(daemon.tree, 'sparse');
    writeFileSync(path, '');
    truncateSync(path, 50_000_000);
    const file = openSync(path, 'r+');
    writeSync(file, 'data', 20_000_000);
    closeSync(file);
    const before = treeFacts(daemon.tree);
    await daemon.save('holes');
    const { target } = await restore(daemon, 'holes');
    expect(treeFacts(target)).toEqual(before);
    const used = (folder: string) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .map((name) => statSync(join(folder, name)).blocks / 2)
        .reduce((sum, kilobytes) => sum + kilobytes, 0);
    expect(used(target)).toBeLessThan(2000);
    expect(used(join(daemon.folder, 'vault'))).toBeLessThan(2000);
  });

  it('stores content once, however many states and files have it', async () => {
    const daemon = await startDaemon();
    writeFileSync(join(daemon.tree, 'a'), Buffer.alloc(100_000, 'same'));
    writeFileSync(join(daemon.tree, 'b'), Buffer.alloc(100_000, 'same'));
    const objects = () =>
      vaultFacts(daemon.folder).filter((fact) => /^objects\/..\/\w+ \d/.test(fact)).length;
    await daemon.save('first');
    expect(objects()).toBe(2);
    await daemon.save('second');
    expect(objects()).toBe(2);
  });

  it('lists fifos, which hold nothing, and tells about them when it is restored', async () => {
    const daemon = await startDaemon();
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(daemon.tree, 'pipe')]);
    await daemon.save('with-fifo');
    expect((await restore(daemon, 'with-fifo')).problems).toEqual([
      'pipe is missing: a fifo is not made again',
    ]);
  });

  it('never holds the place where states are kept', async () => {
    const tree = temporaryFolder();
    writeFileSync(join(tree, 'file'), 'x');
    const daemon = await startDaemon({ tree, folder: join(tree, 'data', 'state') });
    await daemon.save('first');
    await daemon.save('second');
    const { target } = await restore(daemon, 'second');
    expect(Object.keys(treeFacts(target))).toEqual(['', '/data', '/data/state', '/file']);
  });

  it.skipIf(process.getuid?.() !== 0)('is partial and says why when a file cannot be read', async () => {
    const daemon = await startDaemon();
    writeFileSync(join(daemon.tree, 'open'), 'x');
    mkdirSync(join(daemon.tree, 'closed'));
    writeFileSync(join(daemon.tree, 'closed/inside'), 'x');
    writeFileSync(join(daemon.tree, 'private'), 'x', { mode: 0o600 });
    chmodSync(join(daemon.tree, 'closed'), 0o700);
    for (const folder of [daemon.tree, join(daemon.folder, '..')]) chmodSync(folder, 0o755);
    execFileSync('sh', ['-c', 'chown -R nobody "$0"', daemon.folder]);
    const answer = await asNobody(() => daemon.call('SaveSystemState', { stateName: 'some' }));
    expect(answer).toMatchObject({ code: 0, results: [{ stateName: 'some' }] });
    expect(answer.lines.filter((line) => line.startsWith('warning: '))).toEqual([
      `warning: ${daemon.tree}/closed could not be read`,
      `warning: ${daemon.tree}/private could not be read`,
      'warning: some is partial: see the lines above for what is missing or inconsistent',
    ]);
    const state = (await daemon.dump()).machines[0]?.states[0];
    expect(state).toMatchObject({ partial: true, members: [{ unreadable: 2, torn: 0 }] });
    expect((await restore(daemon, 'some')).problems).toEqual([
      'closed its content was unreadable (EACCES)',
      'private is missing: it was unreadable (EACCES)',
    ]);
  });

  it('lists a file that never stops changing as torn', async () => {
    const daemon = await startDaemon();
    const path = join(daemon.tree, 'busy.log');
    writeFileSync(path, Buffer.alloc(5_000_000, 'line\n'));
    const writer = setInterval(() => appendFileSync(path, 'more\n'), 0);
    const answer = await daemon.call('SaveSystemState', { stateName: 'busy' });
    clearInterval(writer);
    expect(answer.lines).toContain(`warning: ${daemon.tree}/busy.log changed while it was read`);
    expect((await daemon.dump()).machines[0]?.states[0]).toMatchObject({
      partial: true,
      members: [{ torn: 1 }],
    });
    expect((await restore(daemon, 'busy')).problems).toEqual([
      'busy.log may be inconsistent: it changed while it was saved',
    ]);
  });
});

/** Runs something as the user nobody, who may not read everything. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  process.seteuid?.('nobody');
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}
