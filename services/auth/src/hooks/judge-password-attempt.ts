import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { UserRow } from '../rows.ts';
import { auditEntry } from '../rules/audit.ts';
import type { HookAnswer } from '../rules/hooks/hook-answer.ts';
import { verdictIn } from '../rules/hooks/verdict.ts';
import { uuidFrom } from '../rules/users/disguised-user.ts';
import * as sessions from '../store/sessions.ts';

/** A password that was checked. */
export interface PasswordAttempt {
  /** Undefined for an address or number that nobody has. */
  user: UserRow | undefined;
  /** The address or number as it would be stored: however it is typed, the hook hears of one user. */
  address: string;
  /** Whether it is the user's. */
  valid: boolean;
  origin: Origin;
}

/**
 * Asks the hook `password_verification_attempt` about a check, right or wrong; nothing when it is off. It is asked about
 * addresses nobody has as well, else its time, and what it rejects, would tell them apart: with an id that stays the
 * same for the address and is no user's.
 * @throws Failure `invalid_credentials` with the hook's message, or why it gave no answer
 */
export async function judgePasswordAttempt(context: AuthContext, attempt: PasswordAttempt): Promise<void> {
  const hook = context.outside.hooks.password_verification_attempt;
  if (hook === undefined) return;
  const { user, address, valid, origin } = attempt;
  const user_id = user?.id ?? uuidFrom(context.atRest.stableId(`attempt ${address}`));
  const asked = hook({ user_id, valid }, { ip: origin.ip });
  const answer = await (user === undefined ? asked.catch(unlessOnlyUnknown) : asked);
  const verdict = verdictIn(answer, 'Further password verification attempts will be rejected.');
  if (verdict === undefined) return;
  if (verdict.logsOut && user !== undefined) {
    const trace = { ...origin, audit: [auditEntry(user, 'logout')] };
    await sessions.end(context.database.autocommit(), { userId: user.id }, trace);
  }
  throw failures.passwordAttemptRejected(verdict.message);
}

const FOREIGN_KEY_VIOLATION = '23503';

/** A function that notes attempts beside the table of users cannot note one of nobody's. */
function unlessOnlyUnknown(error: unknown): HookAnswer {
  const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined;
  if (cause?.code === FOREIGN_KEY_VIOLATION) return {};
  throw error;
}
