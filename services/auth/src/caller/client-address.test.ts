import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressKey, clientAddress, comesFromProxy, trustedProxies } from './client-address.ts';

const byDefault = trustedProxies(['loopback', 'private']);

describe('by default proxies are on this machine or in a private network', () => {
  test.each([
    ['a direct client', undefined, '198.51.100.7', '198.51.100.7'],
    ['behind a proxy on this machine', '203.0.113.9', '127.0.0.1', '203.0.113.9'],
    ['behind two proxies', '203.0.113.9, 10.0.0.1', '10.0.0.2', '203.0.113.9'],
    ['IPv6', ' 2001:DB8::1', '::1', '2001:db8::1'],
    ['a port', '203.0.113.9:4711', '127.0.0.1', '203.0.113.9'],
    ['brackets and a port', '[2001:db8::1]:4711', '127.0.0.1', '2001:db8::1'],
    ['brackets', '[2001:db8::1]', '127.0.0.1', '2001:db8::1'],
    ['a zone', '203.0.113.9', 'fe80::1%eth0', '203.0.113.9'],
    ['IPv4 through an IPv6 socket', undefined, '::ffff:198.51.100.7', '198.51.100.7'],
    ['the same in hexadecimal', '::FFFF:c633:6407', '127.0.0.1', '198.51.100.7'],
    ['the same at length', '0:0:0:0:0:FFFF:c633:6407', '127.0.0.1', '198.51.100.7'],
    ['what only looks like it', '::1:ffff:c633:6407', '127.0.0.1', '::1:ffff:c633:6407'],
    ['a proxy through an IPv6 socket', '203.0.113.9', '::ffff:127.0.0.1', '203.0.113.9'],
    ['a proxy that says nothing', undefined, '127.0.0.1', '127.0.0.1'],
    ['a proxy that says nothing at length', ' , ,', '127.0.0.1', '127.0.0.1'],
    ['a client in the private network', '192.168.1.20', '10.0.0.2', '192.168.1.20'],
    ['no socket any more', undefined, undefined, null],
    ['no socket any more, but a header', '203.0.113.9', undefined, null],
  ])('%s', (_name, forwardedFor, peer, expected) => {
    expect(clientAddress(forwardedFor, peer, byDefault)).toBe(expected);
  });
});

describe('attack: another address than one’s own', () => {
  test.each([
    ['a header from a public client', '203.0.113.9', '198.51.100.7', '198.51.100.7'],
    ['an address before that which the proxy appended', '6.6.6.6, 203.0.113.9', '127.0.0.1', '203.0.113.9'],
    ['with a private one between', '6.6.6.6, 10.0.0.1, 203.0.113.9', '127.0.0.1', '203.0.113.9'],
    ['that of a proxy', '127.0.0.1, 203.0.113.9', '127.0.0.1', '203.0.113.9'],
    ['text before it', "x'; drop table users, 203.0.113.9", '127.0.0.1', '203.0.113.9'],
    ['text where the proxy writes an address', '6.6.6.6, unknown', '10.0.0.7', '10.0.0.7'],
    ['an address in octal', '0177.0.0.1', '127.0.0.1', '127.0.0.1'],
    ['a number too large', '6.6.6.6, 1.2.3.999', '127.0.0.1', '127.0.0.1'],
    ['a chain without an end', `6.6.6.6${', 10.0.0.1'.repeat(2000)}`, '127.0.0.1', '10.0.0.1'],
    ['a client whose proxy has a long list', `${'6.6.6.6, '.repeat(1500)}203.0.113.9`, '::1', '203.0.113.9'],
  ])('%s', (_name, forwardedFor, peer, expected) => {
    expect(clientAddress(forwardedFor, peer, byDefault)).toBe(expected);
  });
});

describe('proxies by name', () => {
  const named = trustedProxies(['203.0.113.0/24', '2001:db8:5::/48', '198.51.100.1']);

  test.each([
    ['a network', '6.6.6.6', '203.0.113.200', '6.6.6.6'],
    ['an IPv6 network', '6.6.6.6', '2001:db8:5:9::1', '6.6.6.6'],
    ['one address', '6.6.6.6', '198.51.100.1', '6.6.6.6'],
    ['its neighbour', '6.6.6.6', '198.51.100.2', '198.51.100.2'],
    ['a private network that was not named', '6.6.6.6', '10.0.0.1', '10.0.0.1'],
    ['this machine, not named either', '6.6.6.6', '127.0.0.1', '127.0.0.1'],
    ['one after the other', '6.6.6.6, 203.0.113.7', '198.51.100.1', '6.6.6.6'],
  ])('%s', (_name, forwardedFor, peer, expected) => {
    expect(clientAddress(forwardedFor, peer, named)).toBe(expected);
  });
});

describe('proxies by number', () => {
  test.each([
    ['0 believes nobody', '0', '6.6.6.6', '127.0.0.1', '127.0.0.1'],
    ['1: the last one', '1', '6.6.6.6, 203.0.113.9', '198.51.100.7', '203.0.113.9'],
    ['2: the one before it', '2', '6.6.6.6, 203.0.113.9, 10.0.0.1', '198.51.100.7', '203.0.113.9'],
    ['2, but only one wrote', '2', '203.0.113.9', '198.51.100.7', '203.0.113.9'],
    ['1, and nobody wrote', '1', undefined, '198.51.100.7', '198.51.100.7'],
    ['1, and it wrote no address', '1', '6.6.6.6, unknown', '198.51.100.7', '198.51.100.7'],
  ])('%s', (_name, count, forwardedFor, peer, expected) => {
    expect(clientAddress(forwardedFor, peer, trustedProxies([count]))).toBe(expected);
  });
});

test.each([
  [['loopback'], '127.0.0.9', true],
  [['loopback'], '10.0.0.1', false],
  [['private'], '10.0.0.1', true],
  [['0'], '127.0.0.1', false],
  [['1'], '198.51.100.7', true],
  [['loopback'], undefined, false],
])('with %j a connection from %s is that of a proxy: %s', (values, peer, expected) => {
  expect(comesFromProxy(peer, trustedProxies(values))).toBe(expected);
});

describe('clients are told apart', () => {
  test.each([
    ['198.51.100.7', '198.51.100.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['2001:db8:1:2:3:4:198.51.100.7', '2001:db8:1:2::/64'],
    ['1::8', '1:0:0:0::/64'],
    ['64:ff9b::198.51.100.7', '198.51.100.7'],
    ['64:ff9b:1::198.51.100.7', '64:ff9b:1:0::/64'],
    ['2002:c633:6407:1::1', '2002:c633:6407::/48'],
  ])('%s as %s', (address, key) => {
    expect(addressKey(address)).toBe(key);
  });

  test('however they are written', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        // URL has a parser of its own, and writes every address in one way.
        const other = new URL(`http://[${address}]`).hostname.slice(1, -1);
        expect(addressKey(address)).toBe(addressKey(other));
        expect(addressKey(address.toUpperCase())).toBe(addressKey(other));
      }),
    );
  });

  test('not by the half of an IPv6 address that is their own to choose', () => {
    const addresses = ['2001:db8:1:2::1', '2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2:0:0:0:3'];
    expect(new Set(addresses.map(addressKey)).size).toBe(1);
    expect(addressKey('2001:db8:1:3::1')).not.toBe(addressKey('2001:db8:1:2::1'));
  });
});
