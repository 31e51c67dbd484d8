import { type Fragment, fragment } from '@croft/sql';

/**
 * In the `set` of a user: forgets wrong codes when all factors go. What a stranger typed would lock those of the owner,
 * for a day in the end; and nothing is left that could be guessed.
 */
export function wrongCodesForgotten(when: Fragment): Fragment {
  return fragment`mfa_wrong_codes = case when ${when} then 0 else mfa_wrong_codes end,
        mfa_wrong_code_at = case when not ${when} then mfa_wrong_code_at end,
        mfa_locked_until = case when not ${when} then mfa_locked_until end`;
}
