import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '@croft/testing';
import { expect, it } from 'vitest';
import { generateSigningKey, readSigningKey } from '../src/outside/signing-key.ts';

const run = promisify(execFile);
const keygen = (...args: string[]) => run('ssh-keygen', ['-q', ...args]);

/** Whether ssh-keygen takes a signature of a text. */
async function verifies(
  folder: string,
  publicKey: string,
  text: string,
  signature: string,
): Promise<boolean> {
  await writeFile(join(folder, 'allowed'), `croft ${publicKey}\n`);
  await writeFile(join(folder, 'signature'), `${signature}\n`);
  const files = ['-f', join(folder, 'allowed'), '-s', join(folder, 'signature')];
  const checking = spawn('ssh-keygen', ['-Y', 'verify', '-n', 'git', '-I', 'croft', ...files]);
  checking.stdin.end(text);
  const [code] = (await once(checking, 'exit')) as [number];
  return code === 0;
}

it('signs with a key that ssh-keygen made, so that ssh-keygen verifies it', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'key');
  await keygen('-t', 'ed25519', '-N', '', '-C', 'a comment', '-f', file);
  const key = readSigningKey(file);
  expect(await readFile(`${file}.pub`, 'utf8')).toBe(`${key.publicKey} a comment\n`);
  const signature = key.sign(Buffer.from('text'));
  expect(await verifies(folder.path, key.publicKey, 'text', signature)).toBe(true);
  expect(await verifies(folder.path, key.publicKey, 'another', signature)).toBe(false);
  expect((await keygen('-l', '-f', file)).stdout).toContain(` ${key.fingerprint} `);
});

it('knows what it has signed, and of which text', async () => {
  await using folder = await temporaryFolder();
  const [key, other] = ['key', 'other'].map((name) => {
    generateSigningKey(join(folder.path, name));
    return readSigningKey(join(folder.path, name));
  });
  const [text, another] = [Buffer.from('text'), Buffer.from('another')];
  const signature = key?.sign(text) ?? '';
  expect(key?.made(signature, text)).toBe(true);
  expect(key?.made(`${signature}\n`, text)).toBe(true);
  expect(key?.made(signature, another)).toBe(false);
  expect(other?.made(signature, text)).toBe(false);
  expect(key?.made(signature.replace(/.(?=\n-----END)/, '!'), text)).toBe(false);
  expect(key?.made('', text)).toBe(false);
});

it('makes a key that ssh-keygen reads, for its owner only, and only once', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'key');
  generateSigningKey(file);
  const { publicKey } = readSigningKey(file);
  expect((await run('ssh-keygen', ['-y', '-f', file])).stdout.trim()).toBe(`${publicKey} croft`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  generateSigningKey(file);
  expect(readSigningKey(file).publicKey).toBe(publicKey);
});

it.each([
  ['has a passphrase', ['-t', 'ed25519', '-N', 'secret'], 'passphrase'],
  ['is of another kind', ['-t', 'ecdsa', '-N', ''], 'no ed25519 key'],
])('refuses a key that %s', async (_name, options, message) => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'key');
  await keygen(...options, '-f', file);
  expect(() => readSigningKey(file)).toThrow(message);
});

it('refuses what is no key', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'key');
  expect(() => readSigningKey(file)).toThrow('ENOENT');
  for (const text of ['', '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n']) {
    await writeFile(file, text);
    expect(() => readSigningKey(file)).toThrow('no private key of OpenSSH');
  }
});
