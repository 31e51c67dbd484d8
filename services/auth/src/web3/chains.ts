import * as failures from '../failures.ts';
import { parseEthereumMessage } from '../rules/web3/ethereum-message.ts';
import type { Chain, SignedMessage } from '../rules/web3/signed-message.ts';
import { parseSolanaMessage } from '../rules/web3/solana-message.ts';
import type { AuthSettings } from '../settings.ts';

/** How wallets of one chain sign people in. */
export interface WalletChain {
  name: Chain;
  /** How long after it was issued a message is taken. */
  validityMs: number;
  /** @throws MalformedMessage */
  parse(message: string): SignedMessage;
  isSigned(message: string, address: string, signature: string): Promise<boolean>;
}

/**
 * The chain a request names.
 * @throws Failure `web3_provider_disabled`, `web3_unsupported_chain`
 */
export function chainNamed(settings: AuthSettings, name: string): WalletChain {
  const {
    EXTERNAL_WEB3_ETHEREUM_ENABLED: ethereumEnabled,
    EXTERNAL_WEB3_SOLANA_ENABLED: solanaEnabled,
    EXTERNAL_WEB3_ETHEREUM_MAXIMUM_VALIDITY_DURATION: ethereumMs,
    EXTERNAL_WEB3_SOLANA_MAXIMUM_VALIDITY_DURATION: solanaMs,
  } = settings;
  if (!ethereumEnabled && !solanaEnabled) throw failures.web3Off();
  switch (name) {
    case 'ethereum':
      if (!ethereumEnabled) throw failures.web3Off();
      return { name, validityMs: ethereumMs, parse: parseEthereumMessage, isSigned: isSignedByEthereum };
    case 'solana':
      if (!solanaEnabled) throw failures.web3Off();
      return { name, validityMs: solanaMs, parse: parseSolanaMessage, isSigned: isSignedBySolana };
    default:
      throw failures.web3ChainUnknown();
  }
}

/** The curve is loaded with the first message that needs it: it takes as long as the start of the whole service. */
async function isSignedByEthereum(message: string, address: string, signature: string): Promise<boolean> {
  const { isChecksummed, recoverEthereumAddress } = await import('../rules/web3/ethereum-signature.ts');
  if (!isChecksummed(address)) return false;
  return recoverEthereumAddress(message, signature) === address.toLowerCase();
}

async function isSignedBySolana(message: string, address: string, signature: string): Promise<boolean> {
  const solana = await import('../rules/web3/solana-signature.ts');
  return solana.isSignedBySolana(message, address, signature);
}
