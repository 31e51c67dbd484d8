import { type Log, silentLog } from '@croft/runtime';
import { afterEach, expect, test } from 'vitest';
import { type Subject, startSubject } from './harness.ts';

// Whose X-Forwarded-For is believed when nobody said anything about proxies.

let subject: Subject;
let warnings: object[];
afterEach(() => subject[Symbol.asyncDispose]());

async function start(environment: Record<string, string> = {}): Promise<void> {
  warnings = [];
  const log: Log = { ...silentLog, warn: (fields) => void warnings.push(fields) };
  subject = await startSubject(
    { AUTHSVC_RATE_LIMIT_ENABLED: 'true', AUTHSVC_RATE_LIMIT_VERIFY: '3', ...environment },
    log,
  );
}
/** How many of ten requests, each with another X-Forwarded-For, are not refused. */
async function through(remoteAddress: string): Promise<number> {
  let count = 0;
  for (let n = 0; n < 10; n++) {
    const headers = { 'x-forwarded-for': `203.0.113.${n}` };
    const { statusCode } = await subject.app.inject({ url: '/verify?type=signup', headers, remoteAddress });
    if (statusCode !== 429) count++;
  }
  return count;
}

test.each([
  ['192.168.1.20', [{ peer: '192.168.1.20' }]],
  ['10.0.0.1', [{ peer: '10.0.0.1' }]],
  ['::ffff:172.17.0.1', [{ peer: '::ffff:172.17.0.1' }]],
  ['fd00::1', [{ peer: 'fd00::1' }]],
  // Not a proxy by any chance, and strangers do not fill the log.
  ['198.51.100.7', []],
])('attack: %s chooses another address for each request', async (from, told) => {
  await start();
  expect(await through(from)).toBe(3);
  expect(warnings).toEqual(told);
});

test('a proxy on this machine is believed', async () => {
  await start();
  expect(await through('127.0.0.1')).toBe(10);
  expect(await through('::1')).toBe(10);
  expect(warnings).toEqual([]);
});

test.each(['loopback,private', '172.17.0.0/16', '1'])(
  'TRUSTED_PROXIES=%s believes a container',
  async (named) => {
    await start({ AUTHSVC_TRUSTED_PROXIES: named });
    expect(await through('172.17.0.1')).toBe(10);
    expect(warnings).toEqual([]);
  },
);
