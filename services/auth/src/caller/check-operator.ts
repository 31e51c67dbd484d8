import { createHash, timingSafeEqual } from 'node:crypto';
import type { AuthContext } from '../context.ts';
import { operatorUnknown } from '../failures.ts';

/** Carries `OPERATOR_TOKEN` on requests that an operator passes on. */
export const OPERATOR_HEADER = 'x-operator-token';

/**
 * Verifies a request that says it comes by way of the operator (multi-instance mode of the contract). Others are
 * requests like any; without `OPERATOR_TOKEN` the header means nothing.
 * @throws Failure when the token is not the operator's
 */
export function checkOperator(
  { settings }: AuthContext,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): void {
  const presented = headers[OPERATOR_HEADER];
  const expected = settings.OPERATOR_TOKEN;
  if (presented === undefined || expected === undefined) return;
  // A header that comes twice was added to by somebody.
  if (typeof presented !== 'string' || !sameText(presented, expected.reveal())) throw operatorUnknown();
}

/** Compares in a time that tells neither where nor in length they differ. */
function sameText(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}
