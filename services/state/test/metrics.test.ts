import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '@croft/runtime';
import { expect, it } from 'vitest';
import { startDaemon } from './daemon.ts';

const METRICS = { STATESVC_METRICS_LISTEN: '127.0.0.1:0' };

/** The numbers Prometheus would read, by name and labels. */
async function numbers(address: string | undefined): Promise<Record<string, number>> {
  const answer = await fetch(address as string);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  const rows = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    rows.map((row) => {
      const [, name, value] = /^(\S.*) (\S+)$/.exec(row.replace(/ \d{13}$/, '')) ?? [];
      // The scope of the SDK is on every row.
      return [
        name
          ?.replace(/,?otel_scope_\w+="[^"]*"/g, '')
          .replace('{}', '')
          .replace('{,', '{'),
        Number(value),
      ];
    }),
  );
}

it('metrics tell of calls, states and space', async () => {
  const daemon = await startDaemon({ settings: METRICS });
  writeFileSync(join(daemon.tree, 'file'), 'x');
  await daemon.save('one');
  await daemon.save();
  expect((await daemon.call('SaveSystemState', { stateName: 'one' })).code).toBe(6);
  const found = await numbers(daemon.service.metricsAddress);
  expect(found).toMatchObject({
    'state_call_duration_count{operation="SaveSystemState",status="OK"}': 2,
    'state_call_duration_count{operation="SaveSystemState",status="ALREADY_EXISTS"}': 1,
    'state_states{kind="system",automatic="false"}': 1,
    'state_states{kind="system",automatic="true"}': 1,
    'state_states{kind="user",automatic="false"}': 0,
    state_writers_waiting: 0,
  });
  const spaces = Object.entries(found).filter(([name]) => name.startsWith('state_storage_'));
  expect(spaces).toHaveLength(2);
  for (const [, bytes] of spaces) expect(bytes).toBeGreaterThan(0);
  await daemon.service.close(0);
  await expect(fetch(daemon.service.metricsAddress as string)).rejects.toThrow();
});

it('without the setting there are none, and an address that is taken is a clear error', async () => {
  expect((await startDaemon()).service.metricsAddress).toBeUndefined();
  const taken = (await startDaemon({ settings: METRICS })).service.metricsAddress as string;
  const settings = { STATESVC_METRICS_LISTEN: new URL(taken).host };
  await expect(startDaemon({ settings })).rejects.toThrow(StartError);
  await expect(startDaemon({ settings })).rejects.toThrow(/STATESVC_METRICS_LISTEN/);
});
