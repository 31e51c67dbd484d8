import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startDaemon, temporaryFolder, treeFacts, vaultFacts } from './daemon.ts';
import { fillTree, restore } from './sample-tree.ts';

describe('RemoveSystemState', () => {
  it('says in a dry run exactly what it then does', async () => {
    const daemon = await startDaemon();
    fillTree(daemon.tree);
    await daemon.save('doomed');
    const before = [await daemon.dump(), vaultFacts(daemon.folder)];
    const dry = await daemon.call('RemoveSystemState', { stateName: 'doomed', dryrun: true });
    expect([await daemon.dump(), vaultFacts(daemon.folder)]).toEqual(before);
    const real = await daemon.call('RemoveSystemState', { stateName: 'doomed' });
    expect(dry).toMatchObject({ code: 0 });
    expect(dry.lines).toHaveLength(3);
    expect(real).toMatchObject({ code: 0, lines: dry.lines });
    expect((await daemon.dump()).machines[0]?.states).toEqual([]);
    expect(vaultFacts(daemon.folder).filter((fact) => /\d$/.test(fact))).toEqual([]);
  });

  it('leaves what other states need', async () => {
    const daemon = await startDaemon();
    fillTree(daemon.tree);
    await daemon.save('kept');
    const before = treeFacts(daemon.tree);
    writeFileSync(join(daemon.tree, 'only-here'), 'x');
    await daemon.save('doomed');
    await daemon.call('RemoveSystemState', { stateName: 'doomed' });
    const { target } = await restore(daemon, 'kept');
    expect(Object.keys(treeFacts(target))).toEqual(Object.keys(before));
    // Content that went with the state is stored again when it is needed again, whatever the cache believes.
    rmSync(join(daemon.tree, 'sub'), { recursive: true });
    await daemon.save('again');
    const now = treeFacts(daemon.tree);
    expect(treeFacts((await restore(daemon, 'again')).target)).toEqual(now);
  });

  it('forgets cached hashes of content it frees', async () => {
    const daemon = await startDaemon();
    const file = join(daemon.tree, 'old');
    writeFileSync(file, 'content');
    // Old enough to be trusted by its change time at the next save.
    await new Promise((resolve) => setTimeout(resolve, 100));
    await daemon.save('first');
    await daemon.call('RemoveSystemState', { stateName: 'first' });
    await daemon.save('second');
    expect(readFileSync(join((await restore(daemon, 'second')).target, 'old'), 'utf8')).toBe('content');
  });

  it('finds a state by id, full name, name, and the end of its name', async () => {
    const daemon = await startDaemon();
    for (const way of ['id', 'full', 'end']) {
      const name = await daemon.save();
      const id = (await daemon.dump()).machines[0]?.states[0]?.id as string;
      const wanted = { id, full: `vault:${daemon.tree}@${name}`, end: name.slice('auto_'.length) }[
        way
      ] as string;
      expect((await daemon.call('RemoveSystemState', { stateName: wanted })).code).toBe(0);
      expect((await daemon.dump()).machines[0]?.states).toEqual([]);
    }
  });

  it.each([
    ['nothing', '', 5, 'there is no state ""'],
    ['an unknown state', 'other', 5, 'there is no state "other"'],
    ['half a word', 'pgrade', 5, 'there is no state "pgrade"'],
    ['an ambiguous end', 'upgrade', 3, /fits more than one state: .+@after\.upgrade \(.+@before-upgrade \(/],
    ['the machine itself', 'MACHINE', 9, 'is the current state'],
  ])('refuses %s even with force, and nothing changes', async (_what, wanted, code, says) => {
    const daemon = await startDaemon();
    await daemon.save('before-upgrade');
    await daemon.save('after.upgrade');
    const before = [await daemon.dump(), vaultFacts(daemon.folder)];
    const stateName = wanted === 'MACHINE' ? `vault:${daemon.tree}` : wanted;
    for (const dryrun of [true, false]) {
      const answer = await daemon.call('RemoveSystemState', { stateName, force: true, dryrun });
      expect(answer).toMatchObject({ code, order: [] });
      expect(answer.details).toMatch(says);
    }
    expect([await daemon.dump(), vaultFacts(daemon.folder)]).toEqual(before);
  });

  it('takes no other state than the one that was meant, whatever happens while it waits', async () => {
    const daemon = await startDaemon();
    for (const name of ['before-upgrade', 'upgrade']) await daemon.save(name);
    const remove = () => daemon.call('RemoveSystemState', { stateName: 'upgrade' });
    const answers = await Promise.all([remove(), remove(), remove()]);
    // Who comes while it goes is told so; who waited finds nothing any more.
    expect(answers.filter(({ code }) => code === 0)).toHaveLength(1);
    expect([5, 10]).toEqual(expect.arrayContaining(answers.map(({ code }) => code).filter(Boolean)));
    expect((await daemon.dump()).machines[0]?.states).toMatchObject([{ name: 'before-upgrade' }]);
  });

  it('refuses the state that was booted', async () => {
    const folder = join(temporaryFolder(), 'state');
    const first = await startDaemon({ folder });
    await first.save('booted');
    const id = (await first.dump()).machines[0]?.states[0]?.id as string;
    await first.service.close(0);
    const commandLine = join(temporaryFolder(), 'cmdline');
    writeFileSync(commandLine, `ro statesvc.state=${id} quiet\n`);
    const daemon = await startDaemon({
      folder,
      tree: first.tree,
      settings: { STATESVC_CMDLINE_FILE: commandLine },
    });
    expect((await daemon.dump()).machines[0]?.bootedState).toBe(id);
    const answer = await daemon.call('RemoveSystemState', { stateName: 'booted', force: true });
    expect(answer).toMatchObject({ code: 9, order: [] });
    expect((await daemon.dump()).machines[0]?.states).toHaveLength(1);
  });
});
