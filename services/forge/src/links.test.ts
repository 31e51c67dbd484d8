import { expect, it } from 'vitest';
import { Links } from './links.ts';

it('has no host before the address is known, which may be spelled without brackets until then', () => {
  const links = new Links('http://::1:3000');
  links.root = 'http://[::1]:4321';
  expect([links.host, links.api('/version')]).toEqual(['[::1]', 'http://[::1]:4321/api/v1/version']);
  links.root = 'https://code.example.test/git';
  expect(links.host).toBe('code.example.test');
});
