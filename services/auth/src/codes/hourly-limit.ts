import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { askingClient } from '../limits/asking-client.ts';

/**
 * Counts mails or SMS of the whole service while they are recorded; what its address had too recently counts for
 * nothing. Addresses nobody has count as well, else the limit would tell them apart, and so that one client cannot use
 * up everybody's in that way, each has a share of them (decision 0011).
 * @param count how many go out at once: all of them, or none
 * @throws Failure `over_email_send_rate_limit` or `over_sms_send_rate_limit` when the hour's, or the client's share of
 *   them, are used up
 */
export async function withinHourlyLimit<Result extends { allowed: boolean }>(
  { limits }: AuthContext,
  what: 'mail' | 'sms',
  record: () => Promise<Result>,
  count = 1,
): Promise<Result> {
  const client = askingClient();
  const giveBack = (taken: number): void => {
    for (let n = 0; n < taken; n++) limits.giveBackHourly(what, client);
  };
  for (let taken = 0; taken < count; taken++) {
    const seconds = await limits.takeHourly(what, client);
    if (seconds === 0) continue;
    giveBack(taken);
    throw what === 'mail' ? failures.emailRateExceeded(seconds) : failures.smsRateExceeded(seconds);
  }
  let allowed = false;
  try {
    const result = await record();
    allowed = result.allowed;
    return result;
  } finally {
    if (!allowed) giveBack(count);
  }
}
