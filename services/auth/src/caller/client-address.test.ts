import { expect, test } from 'vitest';
import { clientAddress } from './client-address.ts';

test.each([
  ['a direct client', undefined, '198.51.100.7', '198.51.100.7'],
  ['behind a proxy on this machine', '203.0.113.9', '127.0.0.1', '203.0.113.9'],
  ['behind a proxy in a private network', '203.0.113.9, 10.0.0.1', '10.0.0.2', '203.0.113.9'],
  ['the first valid one counts', 'unknown, 2001:db8::1', '::1', '2001:db8::1'],
  ['a header from a public client is not believed', '203.0.113.9', '198.51.100.7', '198.51.100.7'],
  ['IPv4 through an IPv6 socket', undefined, '::ffff:198.51.100.7', '198.51.100.7'],
  ['a proxy through an IPv6 socket', '203.0.113.9', '::ffff:127.0.0.1', '203.0.113.9'],
  ['a proxy that says nothing', undefined, '127.0.0.1', '127.0.0.1'],
  ['nonsense', "'; drop table users", '127.0.0.1', '127.0.0.1'],
  ['no socket any more', undefined, undefined, null],
])('%s', (_name, forwardedFor, peer, expected) => {
  expect(clientAddress(forwardedFor, peer)).toBe(expected);
});
