import { Failure } from '@croft/failure';
import { invalidValue } from './request.ts';

export const web3Off = (): Failure =>
  new Failure('unprocessable', 'web3_provider_disabled', 'Web3 provider is disabled');
export const web3ChainUnknown = (): Failure =>
  new Failure('invalid', 'web3_unsupported_chain', 'Unsupported chain');
export const web3MessageLength = (): Failure => invalidValue('message must be between 64 B and 20 KB');

/**
 * A message that lets nobody in; clients of the protocol read the reason in the words of OAuth as well (RFC 6749 §5.2).
 * @param reason never more than the sender of the message knows
 */
export const web3Refused = (reason: string): Failure =>
  new Failure('invalid', 'invalid_credentials', reason, {
    body: { error: 'invalid_grant', error_description: reason },
  });
