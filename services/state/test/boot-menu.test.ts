import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasProgram, skipWithout } from '@croft/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isPlainDevice } from '../src/outside/boot-loader/grub.ts';
import { LoaderEntries } from '../src/outside/boot-loader/loader-entries.ts';
import { programsIn } from '../src/outside/programs.ts';
import { type Kernel, planMenu } from '../src/rules/boot/boot-menu.ts';
import { type DaemonOptions, startDaemon, temporaryFolder, vaultFacts } from './daemon.ts';
import { aMachine, aModel, aState } from './models.ts';

const programs = programsIn('/usr/sbin:/usr/bin:/sbin:/bin');

/** A folder as `/boot`, with kernels. */
function bootFolder(...parts: string[]): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'vmlinuz-6.1.0'), 'kernel');
  writeFileSync(join(folder, 'initrd.img-6.1.0'), 'initrd');
  writeFileSync(join(folder, 'config-6.1.0'), '');
  for (const part of parts) mkdirSync(join(folder, part), { recursive: true });
  return folder;
}

const nothingKept = () => {
  const file = join(temporaryFolder(), 'policy.yaml');
  writeFileSync(file, 'keep: {days: 0, newest: 0, rules: []}\n');
  return file;
};

async function withGrub(more: Record<string, string> = {}, options: DaemonOptions = {}) {
  const boot = bootFolder('grub');
  writeFileSync(join(boot, 'grub/grub.cfg'), '# the distribution\n');
  const cmdline = join(boot, 'cmdline');
  writeFileSync(cmdline, 'BOOT_IMAGE=/boot/vmlinuz-6.1.0 root=UUID=1-2 ro\n');
  const settings = {
    STATESVC_BOOT_LOADER: 'auto',
    STATESVC_BOOT_FOLDER: boot,
    STATESVC_ENTRIES_FOLDER: join(boot, 'esp'),
    STATESVC_CMDLINE_FILE: cmdline,
  };
  const daemon = await startDaemon({
    ...options,
    settings: { ...settings, STATESVC_BOOT_LOADER: 'grub', ...more },
  });
  return { daemon, boot, menu: join(boot, 'grub/croft.cfg') };
}

it.each([
  ['dm-3', false],
  ['md127', false],
  ['bcache0', false],
  ['zd16', false],
  ['sda2', true],
  ['nvme0n1p1', true],
])('%s, by whatever name it was mounted, is one that GRUB can write to: %s', async (name, plain) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, name), '');
  symlinkSync(name, join(folder, 'boot'));
  expect(await isPlainDevice(join(folder, 'boot'))).toBe(plain);
  expect(await isPlainDevice(`/dev/mapper/${name}`)).toBe(false);
});

describe('UpdateBootMenu', () => {
  it('writes a menu that GRUB accepts', async (context) => {
    if (!hasProgram('grub-script-check')) skipWithout(context, 'grub-script-check (apt install grub-common)');
    const { daemon, menu } = await withGrub();
    await daemon.call('CommitBoot');
    await daemon.call('CreateUserData', { user: 'ada', homepath: join(temporaryFolder(), 'ada') });
    await daemon.save('good');
    const answer = await daemon.call('UpdateBootMenu');
    expect(answer).toMatchObject({ code: 0, lines: ['boot menu (grub): 1 state, 2 entries'] });
    execFileSync('grub-script-check', [menu]);
    const id = (await daemon.dump()).machines[0]?.states[0]?.id;
    const text = readFileSync(menu, 'utf8');
    expect(text).toMatch(/menuentry '.+ as of \d{4}-\d\d-\d\d \d\d:\d\d UTC, good' --class croft/);
    expect(text).toContain(`'root=UUID=1-2' 'ro' 'statesvc.state=${id}' 'statesvc.revert=userdata'\n`);
    expect(text).toMatch(/linux '\/.*vmlinuz-6\.1\.0'/);
  });

  it('writes nothing when nothing changed, and keeps the menu before', async () => {
    const { daemon, menu } = await withGrub();
    await daemon.save('one');
    await daemon.call('UpdateBootMenu');
    const [first, written] = [readFileSync(menu, 'utf8'), statSync(menu, { bigint: true }).mtimeNs];
    expect((await daemon.call('UpdateBootMenu')).lines).toEqual([
      'boot menu (grub): 1 state, 1 entry, unchanged',
    ]);
    expect(statSync(menu, { bigint: true }).mtimeNs).toBe(written);
    await daemon.save('two');
    await daemon.call('UpdateBootMenu');
    expect(readFileSync(`${menu}.old`, 'utf8')).toBe(first);
  });

  it('follows saves that ask for it, removals and garbage collection', async () => {
    const { daemon, menu } = await withGrub();
    await daemon.call('SaveSystemState', { stateName: 'one', updateBootMenu: true });
    expect(readFileSync(menu, 'utf8')).toContain(', one');
    await daemon.save('two');
    expect(readFileSync(menu, 'utf8')).not.toContain(', two');
    await daemon.call('RemoveSystemState', { stateName: 'one' });
    expect(readFileSync(menu, 'utf8')).not.toContain(', one');
    expect(readFileSync(menu, 'utf8')).toContain(', two');
  });

  it('offers no homes when the state of the last one is gone', async () => {
    const { daemon, menu } = await withGrub();
    await daemon.call('CreateUserData', { user: 'ada', homepath: join(temporaryFolder(), 'ada') });
    await daemon.call('SaveSystemState', { stateName: 'one', updateBootMenu: true });
    expect(readFileSync(menu, 'utf8')).toContain('statesvc.revert=userdata');
    await daemon.call('RemoveUserState', { stateName: 'one', userName: 'ada', force: true });
    expect(readFileSync(menu, 'utf8')).toContain(', one');
    expect(readFileSync(menu, 'utf8')).not.toContain('statesvc.revert=userdata');
  });

  it('names nothing that a collection removed before it was cancelled', async () => {
    const { daemon, menu } = await withGrub({ STATESVC_POLICY: nothingKept() });
    for (let count = 0; count < 3; count++) await daemon.call('SaveSystemState', { autosave: true });
    await daemon.save('manual');
    await daemon.call('UpdateBootMenu');
    const shown = () => readFileSync(menu, 'utf8').match(/statesvc\.state=([0-9a-f-]+)/g)?.length;
    expect(shown()).toBe(4);
    const answer = await daemon.call('GC', {}, { onLine: (_line, stream) => stream.cancel() });
    expect(answer.code).toBe(1);
    await expect.poll(async () => (await daemon.call('Status')).lines).toContain('writers: none');
    const left = (await daemon.dump()).machines[0]?.states.length;
    expect(left).toBeLessThan(4);
    expect(shown()).toBe(left);
  });

  it('names nothing that a save removed to make room', async () => {
    const folder = join(temporaryFolder(), 'state');
    const tree = temporaryFolder();
    const first = await withGrub({}, { folder, tree });
    for (let count = 0; count < 2; count++) await first.daemon.call('SaveSystemState', { autosave: true });
    await first.daemon.call('UpdateBootMenu');
    await first.daemon.service.close(0);
    // More must be free than is.
    const settings = {
      STATESVC_MIN_FREE: '90',
      STATESVC_BOOT_FOLDER: first.boot,
      STATESVC_BOOT_LOADER: 'grub',
    };
    const again = await startDaemon({ folder, tree, settings });
    expect((await again.call('SaveSystemState', { stateName: 'more' })).code).toBe(8);
    const states = (await again.dump()).machines[0]?.states ?? [];
    expect(states).toHaveLength(1);
    const text = readFileSync(first.menu, 'utf8');
    expect(text.match(/statesvc\.state=([0-9a-f-]+)/g)).toEqual([`statesvc.state=${states[0]?.id}`]);
  });

  it('makes none by itself, where nobody asked for one', async () => {
    const { daemon, menu } = await withGrub();
    await daemon.save('one');
    await daemon.save('two');
    await daemon.call('CommitBoot');
    await daemon.call('RemoveSystemState', { stateName: 'one' });
    await daemon.call('GC', { all: true });
    expect(existsSync(menu)).toBe(false);
  });

  it('keeps the old menu when it cannot write the new one', async () => {
    const { daemon, menu } = await withGrub();
    await daemon.save('one');
    await daemon.call('UpdateBootMenu');
    const before = readFileSync(menu, 'utf8');
    await daemon.save('two');
    mkdirSync(`${menu}.new`);
    const answer = await daemon.call('UpdateBootMenu');
    expect(answer).toMatchObject({ code: 9, results: [] });
    expect(answer.details).toContain('was not replaced');
    expect(readFileSync(menu, 'utf8')).toBe(before);
  });

  it('refuses where there is no boot loader or no kernel; with auto it is no failure', async () => {
    const none = await startDaemon();
    const before = vaultFacts(none.folder);
    expect(await none.call('UpdateBootMenu')).toMatchObject({ code: 9, order: [] });
    expect(await none.call('UpdateBootMenu', { auto: true })).toMatchObject({ code: 0, lines: [] });
    const settings = { STATESVC_BOOT_LOADER: 'grub', STATESVC_BOOT_FOLDER: temporaryFolder() };
    const bare = await startDaemon({ settings });
    expect((await bare.call('UpdateBootMenu')).details).toContain('no kernel was found');
    const unmanaged = await startDaemon({ settings: { STATESVC_VAULT_SYSTEM: 'none' } });
    expect((await unmanaged.call('UpdateBootMenu')).code).toBe(9);
    expect((await unmanaged.call('UpdateBootMenu', { auto: true })).code).toBe(0);
    expect(vaultFacts(none.folder)).toEqual(before);
  });
});

describe('entries by the Boot Loader Specification', () => {
  const plan = (boot: string, count: number) =>
    planMenu(
      aModel({ states: Array.from({ length: count }, (_, at) => aState({ id: `s${at}`, name: `n${at}` })) }),
      aMachine(),
      { states: 20, entries: 60 },
      {
        system: 'Debian "12"',
        commandLine: 'root=UUID=1',
        kernels: [
          {
            name: 'vmlinuz-6.1.0',
            linux: join(boot, 'vmlinuz-6.1.0'),
            initrd: join(boot, 'initrd.img-6.1.0'),
          },
        ],
      },
    ).entries;

  it('are read by systemd-boot as they are meant', async (context) => {
    if (!hasProgram('bootctl')) skipWithout(context, 'bootctl (apt install systemd-boot)');
    if (process.getuid?.() !== 0) skipWithout(context, 'the right to mount');
    const esp = temporaryFolder();
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', esp]);
    onTestFinished(() => void execFileSync('umount', [esp]));
    mkdirSync(join(esp, 'loader'));
    expect(await new LoaderEntries(esp, programs).write(plan(bootFolder(), 2))).toMatchObject({
      changed: true,
    });
    const output = execFileSync('bootctl', ['--esp-path', esp, 'list', '--json=short'], {
      env: { ...process.env, SYSTEMD_RELAX_ESP_CHECKS: '1', SYSTEMD_RELAX_XBOOTLDR_CHECKS: '1' },
    });
    const entries = output
      .toString()
      .trim()
      .split('\n')
      // Some versions print a list, others a line for each.
      .flatMap((line) => JSON.parse(line) as Record<string, string> | Record<string, string>[])
      .sort((a, b) => String(a['id']).localeCompare(String(b['id'])));
    expect(entries).toMatchObject([
      {
        id: 'croft-s0.conf',
        title: 'Debian "12" as of 2026-11-21 10:00 UTC, n0',
        version: '6.1.0',
        options: 'root=UUID=1 statesvc.state=s0',
        linux: expect.stringMatching(/^\/croft\/[0-9a-f]{16}\/vmlinuz-6\.1\.0$/),
      },
      { id: 'croft-s1.conf' },
    ]);
  });

  it('copy kernels once, and go with what they name', async () => {
    const [boot, esp] = [bootFolder(), temporaryFolder()];
    const loader = new LoaderEntries(esp, programs);
    writeFileSync(join(esp, 'foreign'), '');
    expect(await loader.write(plan(boot, 3))).toMatchObject({ changed: true });
    expect(await loader.write(plan(boot, 3))).toMatchObject({ changed: false });
    expect(readdirSync(join(esp, 'loader/entries')).sort()).toEqual([
      'croft-s0.conf',
      'croft-s1.conf',
      'croft-s2.conf',
    ]);
    expect(readdirSync(join(esp, 'croft'))).toHaveLength(2);
    writeFileSync(join(esp, 'loader/entries/other.conf'), 'title other\n');
    expect(await loader.write([])).toEqual({ changed: true, entries: [], lacking: undefined });
    expect(readdirSync(join(esp, 'loader/entries'))).toEqual(['other.conf']);
    expect(readdirSync(join(esp, 'croft'))).toEqual([]);
    expect(readdirSync(esp).sort()).toEqual(['croft', 'foreign', 'loader']);
  });

  describe('on a partition that is full', () => {
    const MiB = 1024 * 1024;

    /** An ESP of 20 MiB, of which 8 stay free, so that there is room for one kernel of 7 MiB. */
    function smallPartition(): string {
      const esp = temporaryFolder();
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=20m', 'tmpfs', esp]);
      onTestFinished(() => void execFileSync('umount', [esp]));
      mkdirSync(join(esp, 'loader'));
      return esp;
    }

    function bigKernels(folder: string, ...versions: string[]): Kernel[] {
      return versions.map((version, at) => {
        const linux = join(folder, `vmlinuz-${version}`);
        const initrd = join(folder, `initrd.img-${version}`);
        writeFileSync(linux, Buffer.alloc(2 * MiB, at + 1));
        writeFileSync(initrd, Buffer.alloc(5 * MiB, at + 1));
        return { name: `vmlinuz-${version}`, linux, initrd };
      });
    }

    /** A state for each kernel it was saved with; of those that are not there the newest is taken. */
    const saved = (kernels: readonly Kernel[], ...names: string[]) =>
      planMenu(
        aModel({ states: names.map((kernel, at) => aState({ id: `s${at}`, name: `n${at}`, kernel })) }),
        aMachine(),
        { states: 20, entries: 60 },
        { system: 'Debian', commandLine: 'root=UUID=1', kernels },
      ).entries;

    /** The entries that are there, none of which may name what is not. */
    function entriesOn(esp: string): string[] {
      const folder = join(esp, 'loader/entries');
      const names = readdirSync(folder).sort();
      for (const name of names)
        for (const [, , path] of readFileSync(join(folder, name), 'utf8').matchAll(/^(linux|initrd) (.+)$/gm))
          expect(statSync(join(esp, path as string)).size).toBeGreaterThan(0);
      return names;
    }

    it('entries of states that are gone go before kernels come, and what they kept', async (context) => {
      if (process.getuid?.() !== 0) skipWithout(context, 'the right to mount');
      const [esp, boot] = [smallPartition(), temporaryFolder()];
      const loader = new LoaderEntries(esp, programs);
      const kernels = bigKernels(boot, '6.1', '6.2');
      await loader.write(saved(kernels, 'vmlinuz-6.1'));
      const other = saved(kernels, 'vmlinuz-6.1', 'vmlinuz-6.2').slice(1);
      expect(await loader.write(other)).toEqual({ changed: true, entries: other, lacking: undefined });
      expect(entriesOn(esp)).toEqual(['croft-s1.conf']);
      expect(readdirSync(join(esp, 'croft'))).toHaveLength(2);
    });

    it('what does not fit is left out and told, and the rest is written', async (context) => {
      if (process.getuid?.() !== 0) skipWithout(context, 'the right to mount');
      const [esp, boot] = [smallPartition(), temporaryFolder()];
      const loader = new LoaderEntries(esp, programs);
      const kernels = bigKernels(boot, '6.1', '6.2');
      const all = saved(kernels, 'vmlinuz-6.1', 'vmlinuz-6.2', 'vmlinuz-6.1');
      const written = await loader.write(all);
      expect(written.entries.map(({ id }) => id)).toEqual(['croft-s0', 'croft-s2']);
      expect(written.lacking).toContain('vmlinuz-6.2 with initrd.img-6.2 needs 15.0 MiB');
      expect(entriesOn(esp)).toEqual(['croft-s0.conf', 'croft-s2.conf']);
      expect(await loader.write(all)).toEqual({ ...written, changed: false });
      // Without the states that needed the other kernel it fits.
      const [, rest] = all;
      expect((await loader.write(rest === undefined ? [] : [rest])).lacking).toBeUndefined();
      expect(entriesOn(esp)).toEqual(['croft-s1.conf']);
    });

    it('a kernel of before gives way to the one that took its place', async (context) => {
      if (process.getuid?.() !== 0) skipWithout(context, 'the right to mount');
      const [esp, boot] = [smallPartition(), temporaryFolder()];
      const loader = new LoaderEntries(esp, programs);
      await loader.write(saved(bigKernels(boot, '6.1'), 'vmlinuz-6.1'));
      const [kernel] = bigKernels(boot, '6.1');
      writeFileSync(join(boot, 'initrd.img-6.1'), Buffer.alloc(5 * MiB, 9));
      const entries = saved([kernel as Kernel], 'vmlinuz-6.1');
      expect(await loader.write(entries)).toEqual({ changed: true, entries, lacking: undefined });
      expect(entriesOn(esp)).toEqual(['croft-s0.conf']);
      expect(readdirSync(join(esp, 'croft'))).toHaveLength(2);
    });

    it('nothing is left of a menu for which there is no room at all, but no way to nothing either', async (context) => {
      if (process.getuid?.() !== 0) skipWithout(context, 'the right to mount');
      const [esp, boot] = [smallPartition(), temporaryFolder()];
      const loader = new LoaderEntries(esp, programs);
      const kernels = bigKernels(boot, '6.1');
      writeFileSync(join(esp, 'foreign'), Buffer.alloc(8 * MiB));
      await expect(loader.write(saved(kernels, 'vmlinuz-6.1'))).rejects.toThrow(
        'remove states or old kernels',
      );
      expect([readdirSync(esp).sort(), readdirSync(join(esp, 'loader'))]).toEqual([
        ['foreign', 'loader'],
        [],
      ]);
    });
  });

  it('of another installation on the same partition are left alone, and so are its kernels', async () => {
    const [boot, esp, ids] = [bootFolder(), temporaryFolder(), temporaryFolder()];
    const [ours, others] = ['ours', 'others'].map((name) => {
      writeFileSync(join(ids, name), `${name}0123456789\n`);
      return new LoaderEntries(esp, programs, join(ids, name));
    }) as [LoaderEntries, LoaderEntries];
    await others.write(plan(boot, 2).slice(1));
    expect([await ours.hasMenu(), await others.hasMenu()]).toEqual([false, true]);
    await ours.write(plan(boot, 1));
    expect(readdirSync(join(esp, 'loader/entries')).sort()).toEqual(['croft-s0.conf', 'croft-s1.conf']);
    await ours.write([]);
    expect(readdirSync(join(esp, 'loader/entries'))).toEqual(['croft-s1.conf']);
    expect(readdirSync(join(esp, 'croft'))).toHaveLength(2);
    await others.write([]);
    expect(readdirSync(join(esp, 'croft'))).toEqual([]);
  });

  it('are booted once by a loader that can do that', async () => {
    const [esp, variables, bin] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    const variable = (name: string) => join(variables, `${name}-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f`);
    const stored = (bytes: Buffer) => Buffer.concat([Buffer.from([7, 0, 0, 0]), bytes]);
    const asStored = (text: string) => stored(Buffer.from(`${text}\0`, 'utf16le'));
    // As bootctl does it, which changes variables of a real firmware only.
    const file = variable('LoaderEntryOneShot');
    writeFileSync(
      join(bin, 'bootctl'),
      `#!/bin/sh
[ "$1" = set-oneshot ] || exit 1
if [ "$2" = "" ]; then rm ${file}; else
  { printf '\\7\\0\\0\\0'; printf '%s\\0' "$2" | iconv -t UTF-16LE; } > ${file}
fi
`,
      { mode: 0o755 },
    );
    const loader = new LoaderEntries(esp, programsIn(`${bin}:/usr/bin:/bin`), '/etc/machine-id', variables);
    const now = () => (existsSync(file) ? readFileSync(file) : undefined);
    expect(await loader.whyNotOnce()).toContain('no boot loader that takes an entry once');
    writeFileSync(variable('LoaderFeatures'), stored(Buffer.from([0b0111, 0, 0, 0, 0, 0, 0, 0])));
    expect(await loader.whyNotOnce()).toContain('no boot loader that takes an entry once');
    writeFileSync(variable('LoaderFeatures'), stored(Buffer.from([0b1000, 0, 0, 0, 0, 0, 0, 0])));
    expect(await loader.whyNotOnce()).toBeUndefined();
    await loader.bootOnce('croft-s0-users');
    expect(now()).toEqual(asStored('croft-s0-users.conf'));
    expect(await loader.asked()).toBe('croft-s0-users');
    await loader.bootOnce(undefined);
    expect([now(), await loader.asked()]).toEqual([undefined, '']);
    // What somebody else asked for stays.
    writeFileSync(file, asStored('memtest.conf'));
    await loader.bootOnce(undefined);
    expect([now(), await loader.asked()]).toEqual([asStored('memtest.conf'), '']);
    // As long as the firmware's variables are not shown, nobody can tell.
    rmSync(variables, { recursive: true });
    expect(await loader.asked()).toBeUndefined();
  });

  it('say what bootctl says when an entry is not taken', async (context) => {
    if (!hasProgram('bootctl')) skipWithout(context, 'bootctl (apt install systemd-boot)');
    const loader = new LoaderEntries(
      temporaryFolder(),
      programsIn('/usr/bin:/bin'),
      '/etc/machine-id',
      '/nowhere',
    );
    await expect(loader.bootOnce('croft-s0')).rejects.toThrow('the entry was not taken: bootctl: ');
  });

  it('name kernels in place that lie on the partition already', async () => {
    const boot = bootFolder('loader');
    await new LoaderEntries(boot, programs).write(plan(boot, 1));
    const text = readFileSync(join(boot, 'loader/entries/croft-s0.conf'), 'utf8');
    expect(text).toContain('\nlinux /vmlinuz-6.1.0\ninitrd /initrd.img-6.1.0\n');
  });
});
