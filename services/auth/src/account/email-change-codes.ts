import { type LinkWish, type PreparedCode, prepareMailCode } from '../codes/prepare-code.ts';
import type { AuthContext } from '../context.ts';
import type { UserRow } from '../rows.ts';
import { asksBothAddresses, CURRENT_CONFIRMED, NEW_CONFIRMED } from '../rules/addresses/email-change.ts';

/** The codes a change of address needs: one to the new one, and one to the present one where both must agree. */
export function emailChangeCodes(
  context: AuthContext,
  user: UserRow,
  newEmail: string,
  link: LinkWish,
): PreparedCode[] {
  const { email, raw_user_meta_data: data, email_change_confirm_status: status } = user;
  const order = { ...link, data, newEmail, ...(email === null ? {} : { email }) };
  return [
    ...(status === NEW_CONFIRMED
      ? []
      : [prepareMailCode(context, { ...order, purpose: 'email_change_new', to: newEmail })]),
    ...(email !== null && asksBothAddresses(email, context.settings) && status !== CURRENT_CONFIRMED
      ? [prepareMailCode(context, { ...order, purpose: 'email_change_current', to: email })]
      : []),
  ];
}
