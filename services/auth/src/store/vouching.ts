import { type Fragment, fragment } from '@croft/sql';

/**
 * Of an identity `i`: whether its provider says that the address it knows the person by is theirs. Whoever wrote somebody
 * else's address into a profile has an identity of that address, too.
 */
export const IS_VERIFIED: Fragment = fragment`(i.identity_data -> 'email_verified' = 'true') is true`;

/**
 * Of an identity `i`: whether an external provider vouches for an address, whatever else it vouches for. The ways in that are
 * the service's own, an address and a number, vouch for nothing: they are what is proven.
 */
export function vouchesFor(address: Fragment): Fragment {
  return fragment`(i.provider not in ('email', 'phone') and ${IS_VERIFIED} and i.email = lower(${address})) is true`;
}
