import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

/** Signs what the forge writes in the name of others: a key of the instance, in the formats of OpenSSH. */
export interface SigningKey {
  /** A line as in `authorized_keys`. */
  publicKey: string;
  /** As `ssh-keygen -l` tells it, `SHA256:…`. */
  fingerprint: string;
  /** The signature of a text as git keeps it in a commit (SSHSIG, namespace `git`), without a line end at its end. */
  sign(text: Buffer): string;
  /** Whether a signature is what this key makes of a text: ed25519 makes the same each time (RFC 8032 §5.1.6). */
  made(signature: string, text: Buffer): boolean;
}

const TYPE = 'ssh-ed25519';
const MAGIC = 'openssh-key-v1\0';

/**
 * Reads an ed25519 private key without a passphrase.
 * @throws Error when there is none, or it is of another kind
 */
export function readSigningKey(file: string): SigningKey {
  const [, body] =
    /-----BEGIN OPENSSH PRIVATE KEY-----([\s\S]*?)-----END/.exec(readFileSync(file, 'utf8')) ?? [];
  if (body === undefined) throw new Error(`${file} is no private key of OpenSSH`);
  const key = Buffer.from(body, 'base64');
  if (key.toString('latin1', 0, MAGIC.length) !== MAGIC)
    throw new Error(`${file} is no private key of OpenSSH`);
  const [cipher, , , rest] = readFields(key.subarray(MAGIC.length), 3);
  if (cipher?.toString() !== 'none') throw new Error(`${file} has a passphrase`);
  // After the number of keys and the public one: two check numbers, then the fields of the private one.
  const [, secret] = readFields((rest ?? Buffer.alloc(0)).subarray(4), 2);
  const [type, point, pair] = readFields((secret ?? Buffer.alloc(0)).subarray(8), 3);
  if (type?.toString() !== TYPE || point?.length !== 32 || pair?.length !== 64)
    throw new Error(`${file} is no ed25519 key`);
  return signingKey(point, pair.subarray(0, 32));
}

/** Writes a new key, for its owner only; one that is there stays. */
export function generateSigningKey(file: string): void {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { x = '', d = '' } = privateKey.export({ format: 'jwk' });
  const [point, seed] = [Buffer.from(x, 'base64url'), Buffer.from(d, 'base64url')];
  const check = randomBytes(4);
  const secret = Buffer.concat([
    check,
    check,
    ...[Buffer.from(TYPE), point, Buffer.concat([seed, point]), Buffer.from('croft')].map(field),
  ]);
  const padding = Buffer.from(Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, index) => index + 1));
  const key = Buffer.concat([
    Buffer.from(MAGIC),
    ...[Buffer.from('none'), Buffer.from('none'), Buffer.alloc(0)].map(field),
    number(1),
    field(publicPart(point)),
    field(Buffer.concat([secret, padding])),
  ]);
  try {
    writeFileSync(file, armour('OPENSSH PRIVATE KEY', key), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function signingKey(point: Buffer, seed: Buffer): SigningKey {
  const key: KeyObject = createPrivateKey({
    format: 'jwk',
    key: { kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url'), d: seed.toString('base64url') },
  });
  const about = [Buffer.from('git'), Buffer.alloc(0), Buffer.from('sha512')].map(field);
  const beginning = Buffer.concat([Buffer.from('SSHSIG'), number(1), field(publicPart(point))]);
  // Whole letters of base64: others' signatures, which have other keys there, are told by it at no cost.
  const sameLetters = armour(
    'SSH SIGNATURE',
    beginning.subarray(0, beginning.length - (beginning.length % 3)),
  );
  const sameStart = sameLetters.slice(0, sameLetters.lastIndexOf('\n-----END'));
  const signed = (text: Buffer): string => {
    const digest = field(createHash('sha512').update(text).digest());
    const signature = sign(null, Buffer.concat([Buffer.from('SSHSIG'), ...about, digest]), key);
    const end = field(Buffer.concat([field(Buffer.from(TYPE)), field(signature)]));
    return armour('SSH SIGNATURE', Buffer.concat([beginning, ...about, end])).trimEnd();
  };
  return {
    publicKey: `${TYPE} ${publicPart(point).toString('base64')}`,
    fingerprint: `SHA256:${createHash('sha256').update(publicPart(point)).digest('base64').replace(/=+$/, '')}`,
    sign: signed,
    made: (signature, text) => signature.startsWith(sameStart) && signature.trimEnd() === signed(text),
  };
}

const publicPart = (point: Buffer) => Buffer.concat([field(Buffer.from(TYPE)), field(point)]);

function armour(name: string, content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,70}/g) ?? [];
  return `-----BEGIN ${name}-----\n${lines.join('\n')}\n-----END ${name}-----\n`;
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A string of SSH: its length, then itself. */
const field = (bytes: Buffer) => Buffer.concat([number(bytes.length), bytes]);

/** So many strings of SSH, and what is left. */
function readFields(bytes: Buffer, count: number): Buffer[] {
  const fields: Buffer[] = [];
  let at = 0;
  for (; fields.length < count && at + 4 <= bytes.length; at += 4 + bytes.readUInt32BE(at))
    fields.push(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at)));
  return [...fields, bytes.subarray(at)];
}
