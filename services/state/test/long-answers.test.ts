import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startDaemon, temporaryFolder } from './daemon.ts';
import { runCommand } from './run-command.ts';

/** As many states as a user may have of his own. */
const MANY = 1000;
/** What a stock client takes in one message. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** A daemon with as many descriptions as a user may write, as long as they may be, and with machines that have long names. */
async function withLongTexts() {
  const first = await startDaemon();
  await first.call('CreateUserData', { user: 'ada', homepath: join(temporaryFolder(), 'ada') });
  await first.call('SaveUserState', { userName: 'ada', stateName: 'mine' });
  await first.service.close(0);
  const folder = join(first.folder, 'vault/states');
  const [file = ''] = readdirSync(folder);
  const { version, states } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const copy = (changes: object) => {
    const id = randomUUID();
    const record = { version, states: [{ ...states[0], id, ...changes }] };
    writeFileSync(join(folder, `${id}.json`), `${JSON.stringify(record)}\n`);
  };
  for (let state = 0; state < MANY; state++)
    copy({ name: `s${state}`, description: '\u{1F600}'.repeat(1000) });
  for (let machine = 0; machine < MANY; machine++)
    copy({ machine: `vault:/${`${machine}`.padEnd(4000, 'm')}` });
  return await startDaemon({ folder: first.folder, tree: first.tree });
}

it('attack: texts that one user made long come in messages that every client takes', {
  timeout: 150_000,
}, async () => {
  const daemon = await withLongTexts();
  for (const [operation, field, command, last] of [
    ['MachineShow', 'machineInfo', 'show --full', / {2}\| (\u{1F600}){1000}\n$/u],
    ['MachineList', 'machineList', 'list', /vault:\/9m{3999} .*\n$/],
  ] as const) {
    const answer = await daemon.call(operation, { full: true });
    expect([operation, answer.code, answer.details]).toEqual([operation, 0, 'OK']);
    const pieces = answer.results.map((result) => String(result[field]));
    expect(pieces.length).toBeGreaterThan(1);
    for (const piece of pieces) expect(Buffer.byteLength(piece)).toBeLessThan(MAX_MESSAGE_BYTES);
    expect(pieces.join('').slice(-8000)).toMatch(last);
    const { code, out } = await runCommand(daemon, command);
    expect([code, out === pieces.join('')]).toEqual([0, true]);
  }
});
