import { forbidden } from '../failures.ts';
import type { Caller } from './caller.ts';

/**
 * Credentials for public things neither make nor get what they could not show.
 * @throws 403
 */
export function checkReachesPrivate({ publicOnly }: Caller): void {
  if (publicOnly) throw forbidden('token scope is limited to public repositories');
}
