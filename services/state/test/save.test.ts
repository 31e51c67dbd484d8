import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startDaemon, temporaryFolder, vaultFacts } from './daemon.ts';

describe('SaveSystemState', () => {
  it('makes a name when none is given, and marks the state automatic', async () => {
    const daemon = await startDaemon();
    const name = await daemon.save();
    expect(name).toMatch(/^auto_[a-z0-9]{6}$/);
    await daemon.save('typed');
    await daemon.call('SaveSystemState', { stateName: 'from-timer', autosave: true });
    const states = (await daemon.dump()).machines[0]?.states.map((state) => [state.name, state.automatic]);
    expect(states).toEqual([
      ['from-timer', true],
      ['typed', false],
      [name, true],
    ]);
  });

  it('delivers the name, with a warning, when the boot menu cannot be updated', async () => {
    const boot = temporaryFolder();
    writeFileSync(join(boot, 'vmlinuz-1'), '');
    const settings = { STATESVC_BOOT_LOADER: 'grub', STATESVC_BOOT_FOLDER: boot };
    const daemon = await startDaemon({ settings });
    const answer = await daemon.call('SaveSystemState', { stateName: 'menu', updateBootMenu: true });
    expect(answer).toMatchObject({ code: 0, results: [{ stateName: 'menu' }] });
    expect(answer.lines.at(-1)).toMatch(
      /^warning: the boot menu was not updated: .+grub\/croft\.cfg was not replaced/,
    );
    expect(answer.order.lastIndexOf('log')).toBeLessThan(answer.order.indexOf('stateName'));
  });

  it.each([
    ['a space', 'two words', 3, 'space'],
    ['a slash', '../../etc/passwd', 3, '/'],
    ['a leading dash', '-rf', 3, 'start with - or .'],
    ['a leading dot', '.hidden', 3, 'start with - or .'],
    ['101 characters', 'x'.repeat(101), 3, 'at most 100'],
    ['the automatic prefix', 'auto_mine', 3, 'kept for automatic states'],
    ['a taken name', 'taken', 6, 'exists already'],
  ])('refuses %s, and nothing changes', async (_what, stateName, code, says) => {
    const daemon = await startDaemon();
    await daemon.save('taken');
    const before = [await daemon.dump(), vaultFacts(daemon.folder)];
    const answer = await daemon.call('SaveSystemState', { stateName });
    expect(answer).toMatchObject({ code, order: [] });
    expect(answer.details).toContain(says);
    expect([await daemon.dump(), vaultFacts(daemon.folder)]).toEqual(before);
  });

  it('refuses when the disk would be too full, naming it, what is free and what is needed', async () => {
    const { bavail, blocks } = statfsSync(temporaryFolder());
    const percentFree = Math.ceil((bavail / blocks) * 100);
    const daemon = await startDaemon({ settings: { STATESVC_MIN_FREE: String(Math.min(90, percentFree)) } });
    const before = vaultFacts(daemon.folder);
    const answer = await daemon.call('SaveSystemState', { stateName: 'full' });
    expect(answer).toMatchObject({ code: 8, order: [] });
    expect(answer.details).toMatch(
      /not enough free space on the disk of .+: [\d.]+ \w+ \(\d+ %\) free, more than .+ needed/,
    );
    expect(vaultFacts(daemon.folder)).toEqual(before);
  });

  it('refuses when the tree has gone, and saves again when it is back', async () => {
    const daemon = await startDaemon();
    rmSync(daemon.tree, { recursive: true });
    const before = vaultFacts(daemon.folder);
    const answer = await daemon.call('SaveSystemState', { stateName: 'gone' });
    expect(answer).toMatchObject({ code: 9, results: [] });
    expect(answer.details).toContain(`the tree ${daemon.tree} cannot be saved`);
    expect(vaultFacts(daemon.folder)).toEqual(before);
    mkdirSync(daemon.tree);
    expect(await daemon.save('gone')).toBe('gone');
  });

  it('on a machine that is not managed: autosave succeeds with nothing, others are refused', async () => {
    const daemon = await startDaemon({ settings: { STATESVC_VAULT_SYSTEM: 'none' } });
    expect(await daemon.call('SaveSystemState', { autosave: true })).toMatchObject({
      code: 0,
      lines: ['this machine is not managed, so nothing was saved'],
      results: [{ stateName: '' }],
    });
    expect(await daemon.call('SaveSystemState', { stateName: 'x' })).toMatchObject({ code: 9, order: [] });
    expect((await daemon.dump()).machines[0]?.states).toEqual([]);
  });

  it.each([
    ['its caller goes away', 1, {}],
    ['its deadline passes', 4, { deadlineMs: 60 }],
  ])('leaves nothing when %s', async (_what, code, options) => {
    const daemon = await startDaemon();
    await daemon.save('earlier');
    for (let file = 0; file < 600; file++) writeFileSync(join(daemon.tree, `f${file}`), `content ${file}`);
    const before = vaultFacts(daemon.folder);
    const answer = await daemon.call(
      'SaveSystemState',
      { stateName: 'never' },
      {
        ...options,
        onLine: (_line, stream) => code === 1 && stream.cancel(),
      },
    );
    expect(answer).toMatchObject({ code, results: [] });
    // The undo runs after the caller has gone; the next writer waits for it.
    await daemon.call('RemoveSystemState', { stateName: 'earlier' });
    await daemon.save('earlier');
    await daemon.call('RemoveSystemState', { stateName: 'earlier' });
    const kept = (facts: string[]) => facts.filter((fact) => fact.startsWith('st'));
    expect(kept(vaultFacts(daemon.folder))).toEqual(kept(before).filter((fact) => !fact.includes('.json')));
    expect(vaultFacts(daemon.folder).filter((fact) => /^objects\/..\/\w/.test(fact))).toEqual([]);
    expect((await daemon.dump()).machines[0]?.states).toEqual([]);
  });
});

describe('two writers', () => {
  it('save one after the other, and only one gets the name', async () => {
    const daemon = await startDaemon();
    for (let file = 0; file < 200; file++) writeFileSync(join(daemon.tree, `f${file}`), `content ${file}`);
    const saves = Array.from({ length: 6 }, (_, at) =>
      daemon.call('SaveSystemState', { stateName: at < 2 ? 'same' : `s${at}` }),
    );
    const codes = (await Promise.all(saves)).map(({ code }) => code);
    expect(codes.slice(0, 2).sort()).toEqual([0, 6]);
    expect(codes.slice(2)).toEqual([0, 0, 0, 0]);
    const names = (await daemon.dump()).machines[0]?.states.map(({ name }) => name);
    expect(names?.sort()).toEqual(['s2', 's3', 's4', 's5', 'same']);
  });

  it('wait no longer than the caller allows', async () => {
    const daemon = await startDaemon();
    for (let file = 0; file < 600; file++) writeFileSync(join(daemon.tree, `f${file}`), `content ${file}`);
    let waiting: Promise<{ code: number }> | undefined;
    const first = await daemon.call(
      'SaveSystemState',
      { stateName: 'long' },
      {
        onLine: () => {
          waiting ??= daemon.call('SaveSystemState', { stateName: 'short' }, { deadlineMs: 20 });
        },
      },
    );
    expect(first.code).toBe(0);
    expect((await waiting)?.code).toBe(4);
    await daemon.save('after');
    expect((await daemon.dump()).machines[0]?.states.map(({ name }) => name)).toEqual(['after', 'long']);
  });
});

it('Status answers within a second while a large save runs', async () => {
  const daemon = await startDaemon();
  for (let file = 0; file < 20; file++)
    writeFileSync(join(daemon.tree, `f${file}`), Buffer.alloc(8_000_000, `${file}`));
  let saving = true;
  const save = daemon.call('SaveSystemState', { stateName: 'large' }).finally(() => {
    saving = false;
  });
  const times: number[] = [];
  const writers: string[] = [];
  while (saving) {
    const start = performance.now();
    const status = await daemon.call('Status');
    times.push(performance.now() - start);
    writers.push(...status.lines.filter((line) => line.startsWith('writers: ')));
  }
  expect((await save).code).toBe(0);
  expect(Math.max(...times)).toBeLessThan(1000);
  expect(writers).toContain(`writers: SaveSystemState on vault:${daemon.tree}, waiting: 0`);
});
