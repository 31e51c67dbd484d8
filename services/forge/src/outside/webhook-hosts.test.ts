import { describe, expect, it } from 'vitest';
import { webhookHosts } from './webhook-hosts.ts';

describe('webhookHosts', () => {
  it.each([
    [[], 'localhost', '127.0.0.1', false],
    [['loopback'], '127.0.0.1', '127.0.0.1', true],
    [['loopback'], 'localhost', '::1', true],
    [['loopback'], 'db.internal', '10.0.0.1', false],
    [['private'], 'db.internal', '10.0.0.1', true],
    [['private'], 'fd00::1', 'fd00::1', true],
    [['private'], 'metadata', '169.254.169.254', false],
    [['10.1.0.0/16'], 'ci', '10.1.2.3', true],
    [['10.1.0.0/16'], 'ci', '10.2.0.1', false],
    [['192.168.1.7'], 'ci', '192.168.1.7', true],
    [['192.168.1.7'], 'ci', '192.168.1.8', false],
    [['ci.internal'], 'CI.internal', '10.9.9.9', true],
    [['ci.internal'], 'ci.internal.example.com', '10.9.9.9', false],
    [['*.internal'], 'ci.internal', '10.9.9.9', true],
    [['*.internal'], 'internal', '10.9.9.9', false],
    [['*'], 'anything', '169.254.169.254', true],
  ])('%j lets %s at %s pass: %s', (entries, host, address, allowed) => {
    expect(webhookHosts(entries)(host, address)).toBe(allowed);
  });

  it.each(['10.0.0.0/33', '10.0.0.0/x', '::/129'])('refuses %s at the start', (entry) => {
    expect(() => webhookHosts([entry])).toThrow('is not a network');
  });
});
