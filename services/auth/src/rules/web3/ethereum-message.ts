import {
  linesOf,
  MalformedMessage,
  readFields,
  readIntroduction,
  type SignedMessage,
} from './signed-message.ts';

/** In this order, and no other (EIP-4361); a `true` must be there. Today's client library sends no nonce of its own. */
const FIELDS = [
  ['URI', true],
  ['Version', true],
  ['Chain ID', true],
  ['Nonce', false],
  ['Issued At', true],
  ['Expiration Time', false],
  ['Not Before', false],
  ['Request ID', false],
] as const;

/**
 * Takes a message of Sign-In with Ethereum apart (EIP-4361), in linear time.
 * @throws MalformedMessage
 */
export function parseEthereumMessage(message: string): SignedMessage {
  const lines = linesOf(message);
  const [first, address = '', blank] = lines;
  const introduction = readIntroduction(first, 'Ethereum');
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw new MalformedMessage('has no Ethereum address');
  if (blank !== '') throw new MalformedMessage('has no empty line after the address');
  const statement = lines[3] === '' ? undefined : lines[3];
  let at = statement === undefined ? 3 : 4;
  if (lines[at++] !== '') throw new MalformedMessage('has no empty line before its fields');

  const fields = new Map<string, string>();
  for (const [name, isRequired] of FIELDS) {
    const line = lines[at];
    if (line?.startsWith(`${name}: `) === true) {
      fields.set(name, line.slice(name.length + 2));
      at++;
    } else if (isRequired) throw new MalformedMessage(`has no ${name} where it belongs`);
  }
  if (lines[at] === 'Resources:') {
    at++;
    while (lines[at]?.startsWith('- ') === true) at++;
  }
  if (at !== lines.length) throw new MalformedMessage('has lines that do not belong there');
  const read = readFields(fields);
  if (!/^[1-9]\d{0,77}$/.test(read.chainId ?? '')) throw new MalformedMessage('has a bad Chain ID');
  return { ...introduction, address, statement, ...read };
}
