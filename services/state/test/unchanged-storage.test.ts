import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RecordsStamp } from '../src/outside/storage/vault/records-stamp.ts';
import { type Daemon, startDaemon, temporaryFolder } from './daemon.ts';
import { callExtra } from './extras-client.ts';

/** The kernel's clock ticks at least so often; what is younger may be written again without a trace. */
const TICK_MS = 60;

/** A daemon that saved twice, described a state and removed one, and has stopped. */
async function stoppedDaemon() {
  const daemon = await startDaemon();
  for (const name of ['gone', 'first', 'second']) await daemon.save(name);
  await callExtra(daemon, 'Describe', { stateName: 'first', description: 'good' });
  await daemon.call('RemoveSystemState', { stateName: 'gone' });
  const before = await daemon.dump();
  await sleep(TICK_MS);
  await daemon.service.close(0);
  const records = join(daemon.folder, 'vault/states');
  const files = readdirSync(records).map((name) => join(records, name));
  /** Changes what a record says of its state. */
  const describe = (file: string, description: string, as = file) => {
    const record = JSON.parse(readFileSync(file, 'utf8')) as { states: object[] };
    writeFileSync(
      as,
      JSON.stringify({ ...record, states: record.states.map((state) => ({ ...state, description })) }),
    );
  };
  const start = () => startDaemon({ folder: daemon.folder, tree: daemon.tree });
  return { ...daemon, before, records, files, describe, start };
}

type Stopped = Awaited<ReturnType<typeof stoppedDaemon>>;

/** A write of its own does not make it vouch for what others did before. */
async function saveAndStop(daemon: Daemon): Promise<void> {
  await daemon.save('late');
  await sleep(TICK_MS);
  await daemon.service.close(0);
}

/** In place, or where nothing is by what is no file. @returns how to take it back */
function damage(path: string): () => void {
  if (!existsSync(path)) {
    mkdirSync(path);
    return () => rmdirSync(path);
  }
  const whole = readFileSync(path);
  writeFileSync(path, '{');
  return () => writeFileSync(path, whole);
}

const descriptionsOf = async (daemon: Daemon) =>
  (await daemon.dump()).machines.flatMap(({ states }) => states.map(({ description }) => description)).sort();

it('knows after a start all that it knew, and Refresh finds that nothing differs', async () => {
  const { start, before } = await stoppedDaemon();
  const daemon = await start();
  expect(await daemon.dump()).toEqual(before);
  expect(await descriptionsOf(daemon)).toEqual(['', 'good']);
  expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 2 states']);
  expect(await daemon.dump()).toEqual(before);
  await daemon.save('third');
  await daemon.service.close(0);
  expect(await descriptionsOf(await start())).toEqual(['', '', 'good']);
});

it('reads no record whose folder is what it was, and Refresh reads them', async () => {
  const { start, files, describe, before } = await stoppedDaemon();
  for (const file of files) describe(file, 'written in place');
  const daemon = await start();
  expect(await daemon.dump()).toEqual(before);
  await daemon.call('Refresh');
  expect(await descriptionsOf(daemon)).toEqual(['written in place', 'written in place']);
});

it.each([
  [
    'put there as a backup is',
    ({ files: [file = ''], describe }: Stopped) => {
      describe(file, 'other', `${file}.new`);
      renameSync(`${file}.new`, file);
    },
  ],
  [
    'written in place, and the folder touched',
    ({ files: [file = ''], describe, records }: Stopped) => {
      describe(file, 'other');
      utimesSync(records, new Date(), new Date());
    },
  ],
  [
    'written in place, and a line is in the journal',
    ({ files: [file = ''], describe, folder }: Stopped) => {
      describe(file, 'other');
      appendFileSync(join(folder, 'journal.jsonl'), '{"event":"undone","id":"x"}\n');
    },
  ],
])('reads every record when one was %s', async (_, change) => {
  const stopped = await stoppedDaemon();
  change(stopped);
  expect(await descriptionsOf(await stopped.start())).toContain('other');
});

it('believes a record that has gone while it was stopped', async () => {
  const {
    start,
    files: [file = ''],
  } = await stoppedDaemon();
  rmSync(file);
  expect(await descriptionsOf(await start())).toHaveLength(1);
});

it('reads every record when the folder was written to as it stopped', async () => {
  const { start, files, describe, records } = await stoppedDaemon();
  const soon = new Date(Date.now() + 3_600_000);
  utimesSync(records, soon, soon);
  await (await start()).service.close(0);
  for (const file of files) describe(file, 'other');
  expect(await descriptionsOf(await start())).toEqual(['other', 'other']);
});

describe('what was not read, nor written by this daemon', () => {
  it('is forgotten at the next start when it went while the daemon ran', async () => {
    const { start, files } = await stoppedDaemon();
    const daemon = await start();
    rmSync(files[0] as string);
    await saveAndStop(daemon);
    expect(await descriptionsOf(await start())).toHaveLength(2);
  });

  it('is found at the next start when it came while the daemon ran', async () => {
    const { start, files } = await stoppedDaemon();
    const [file] = files as [string];
    renameSync(file, `${file}.away`);
    const daemon = await start();
    expect(await descriptionsOf(daemon)).toHaveLength(1);
    renameSync(`${file}.away`, file);
    await saveAndStop(daemon);
    expect(await descriptionsOf(await start())).toEqual(['', '', 'good']);
  });

  it('is read at the next start when it was replaced while the daemon ran', async () => {
    const { start, files, describe } = await stoppedDaemon();
    const [file] = files as [string];
    const daemon = await start();
    describe(file, 'replaced', `${file}.new`);
    renameSync(`${file}.new`, file);
    await saveAndStop(daemon);
    expect(await descriptionsOf(await start())).toContain('replaced');
  });

  it.each([
    ['another record', ({ files }: Stopped) => files[1] as string],
    ['what is written down of machines', ({ folder }: Stopped) => join(folder, 'vault/machines.json')],
  ])('is read at the next start when a Refresh that read it failed at %s', async (_, placeOf) => {
    const stopped = await stoppedDaemon();
    const [replaced] = stopped.files as [string];
    const daemon = await stopped.start();
    stopped.describe(replaced, 'replaced', `${replaced}.new`);
    renameSync(`${replaced}.new`, replaced);
    const heal = damage(placeOf(stopped));
    expect((await daemon.call('Refresh')).code).not.toBe(0);
    heal();
    await sleep(TICK_MS);
    await daemon.service.close(0);
    expect(await descriptionsOf(await stopped.start())).toContain('replaced');
  });

  it('is found through a link', async () => {
    const { start, records } = await stoppedDaemon();
    renameSync(records, `${records}-elsewhere`);
    symlinkSync(`${records}-elsewhere`, records);
    const daemon = await start();
    await saveAndStop(daemon);
    const [file = ''] = readdirSync(records);
    rmSync(join(records, file));
    expect(await descriptionsOf(await start())).toHaveLength(2);
  });

  it('is all that there is after a write that failed', async () => {
    const folder = temporaryFolder();
    const stamp = new RecordsStamp(folder);
    await stamp.reading(async () => {});
    await stamp.writing(async () => writeFileSync(join(folder, 'one'), ''));
    await sleep(TICK_MS);
    expect(await stamp.now()).toBe(await stamp.reading(async (now) => now));
    const failing = stamp.writing(async () => {
      writeFileSync(join(folder, 'two'), '');
      throw new Error('EIO');
    });
    await expect(failing).rejects.toThrow('EIO');
    await sleep(TICK_MS);
    expect(await stamp.now()).toBeUndefined();
    await stamp.writing(async () => writeFileSync(join(folder, 'three'), ''));
    await sleep(TICK_MS);
    expect(await stamp.now()).toBeUndefined();
  });

  it('is all that there is after a write of which nobody knows whether it happened', async () => {
    const stamp = new RecordsStamp(temporaryFolder());
    await sleep(TICK_MS);
    expect(await stamp.reading(async (now) => now)).toBe(await stamp.now());
    await expect(stamp.writing(() => Promise.reject(new Error('EIO')))).rejects.toThrow('EIO');
    expect(await stamp.now()).toBeUndefined();
  });

  it('is not covered by a write that was made beside one that failed', async () => {
    const folder = temporaryFolder();
    const stamp = new RecordsStamp(folder);
    await stamp.reading(async () => {});
    const slow = stamp.writing(async () => {
      writeFileSync(join(folder, 'one'), '');
      await sleep(TICK_MS);
    });
    const failing = stamp.writing(async () => {
      writeFileSync(join(folder, 'two'), '');
      throw new Error('EIO');
    });
    await expect(failing).rejects.toThrow('EIO');
    await slow;
    await sleep(TICK_MS);
    expect(await stamp.now()).toBeUndefined();
  });
});
