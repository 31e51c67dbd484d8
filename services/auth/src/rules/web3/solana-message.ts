import {
  linesOf,
  MalformedMessage,
  readFields,
  readIntroduction,
  type SignedMessage,
} from './signed-message.ts';

const FIELD = /^(URI|Version|Chain ID|Nonce|Issued At|Expiration Time|Not Before|Request ID): (.*)$/;
const CHAIN_ID = /^(solana:)?(mainnet|testnet|devnet|localnet)$/;

/**
 * Takes a message of Sign-In with Solana apart, in linear time. Wallets and client libraries do not agree on the order of
 * the fields, nor on the colon after `Resources`; each field may stand once, which leaves one reading of a message.
 * @throws MalformedMessage
 */
export function parseSolanaMessage(message: string): SignedMessage {
  const lines = linesOf(message);
  const [first, address = '', blank] = lines;
  const introduction = readIntroduction(first, 'Solana');
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address)) throw new MalformedMessage('has no Solana address');
  if (blank !== '') throw new MalformedMessage('has no empty line after the address');
  // A statement is followed by an empty line; what follows at once is the first field.
  const statement = lines[4] === '' ? lines[3] : undefined;
  let at = statement === undefined ? 3 : 5;

  const fields = new Map<string, string>();
  for (; at < lines.length; at++) {
    const [, name, value] = FIELD.exec(lines[at] ?? '') ?? [];
    if (name === undefined || value === undefined) break;
    if (fields.has(name)) throw new MalformedMessage(`has ${name} twice`);
    fields.set(name, value);
  }
  if (lines[at] === 'Resources:' || lines[at] === 'Resources') {
    at++;
    while (lines[at]?.startsWith('- ') === true) at++;
  }
  if (at !== lines.length) throw new MalformedMessage('has lines that do not belong there');
  const read = readFields(fields);
  if (read.chainId !== undefined && !CHAIN_ID.test(read.chainId)) {
    throw new MalformedMessage('has a bad Chain ID');
  }
  return { ...introduction, address, statement, ...read };
}
