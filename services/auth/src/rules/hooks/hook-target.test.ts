import { expect, it } from 'vitest';
import { readHookTarget } from './hook-target.ts';

it.each([
  'https://hooks.example/a?b=c',
  'https://10.0.0.7/inside',
  'http://localhost:9999/x',
  'http://127.0.0.1',
  'http://[::1]:80/',
  'http://host.docker.internal/functions/v1/hook',
])('%s is asked as it is written', (uri) => {
  expect(readHookTarget(uri)).toEqual({ url: uri });
});

it('a function is named by its schema and its name', () => {
  expect(readHookTarget('pg-functions://postgres/public/custom_claims')).toEqual({
    schema: 'public',
    name: 'custom_claims',
  });
  expect(readHookTarget(`pg-functions://db/_a/${'f'.repeat(63)}`)).toMatchObject({ schema: '_a' });
});

it.each([
  ['http://hooks.example/', 'http only for localhost'],
  ['http://127.0.0.1.nip.io/', 'http only for localhost'],
  ['http://localhost.evil.example/', 'http only for localhost'],
  ['http://2130706434/', 'http only for localhost'],
  ['https://user:word@hooks.example/', 'must not carry credentials'],
  ['http://localhost@evil.example/', 'http only for localhost'],
  ['ftp://localhost/', 'must begin with'],
  ['file:///etc/passwd', 'must begin with'],
  ['hooks.example', 'must begin with'],
  ['', 'must begin with'],
  ['pg-functions://postgres/public', 'must be pg-functions'],
  ['pg-functions://postgres/public/a/b', 'must be pg-functions'],
  ['pg-functions:///public/a', 'must be pg-functions'],
  ['pg-functions://postgres/public/a"()--', 'must be pg-functions'],
  ['pg-functions://postgres/public/a();drop table users', 'must be pg-functions'],
  ['pg-functions://postgres/pub%22lic/a', 'must be pg-functions'],
  ['pg-functions://postgres/public/1a', 'must be pg-functions'],
  ['pg-functions://postgres/public/ä', 'must be pg-functions'],
  [`pg-functions://postgres/public/${'f'.repeat(64)}`, 'must be pg-functions'],
])('%s is refused', (uri, reason) => {
  expect(() => readHookTarget(uri)).toThrow(reason);
});
