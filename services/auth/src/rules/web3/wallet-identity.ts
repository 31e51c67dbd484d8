import { externalMetadata } from '../external/external-metadata.ts';
import type { Chain, SignedMessage } from './signed-message.ts';

/** The provider of identities that are wallets, whatever their chain. */
export const PROVIDER = 'web3';

/** User metadata is repeated in every access token. */
const MAX_STATEMENT_CHARACTERS = 512;

/** What tells a wallet from all others. Capitals of an Ethereum address are a checksum and no part of it. */
export function walletSubject(chain: Chain, { address }: SignedMessage): string {
  return `${PROVIDER}:${chain}:${accountOf(chain, address)}`;
}

/** What is stored of a wallet, as GoTrue's clients look for it. */
export function walletMetadata(chain: Chain, message: SignedMessage): Record<string, unknown> {
  const { address, chainId, domain, statement } = message;
  const claims = {
    sub: walletSubject(chain, message),
    custom_claims: {
      address: accountOf(chain, address),
      chain,
      network: chainId,
      domain,
      statement: statement?.slice(0, MAX_STATEMENT_CHARACTERS).toWellFormed(),
    },
  };
  return externalMetadata(claims, undefined);
}

function accountOf(chain: Chain, address: string): string {
  return chain === 'ethereum' ? address.toLowerCase() : address;
}
