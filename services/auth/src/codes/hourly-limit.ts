import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';

/**
 * Counts one mail or SMS of the whole service while it is recorded; one that its address had too recently counts for
 * nothing. Addresses nobody has count as well, else the limit would tell them apart.
 * @throws Failure `over_email_send_rate_limit` or `over_sms_send_rate_limit` when the hour's are used up
 */
export async function withinHourlyLimit<Result extends { allowed: boolean }>(
  { limits }: AuthContext,
  what: 'mail' | 'sms',
  record: () => Promise<Result>,
): Promise<Result> {
  const seconds = await limits.takeHourly(what);
  if (seconds > 0)
    throw what === 'mail' ? failures.emailRateExceeded(seconds) : failures.smsRateExceeded(seconds);
  let allowed = false;
  try {
    const result = await record();
    allowed = result.allowed;
    return result;
  } finally {
    if (!allowed) limits.giveBackHourly(what);
  }
}
