import { type LinkWish, type MailCode, type PreparedCode, prepareMailCode } from '../codes/prepare-code.ts';
import type { AuthContext } from '../context.ts';
import type { UserRow } from '../rows.ts';
import { asksBothAddresses, CURRENT_CONFIRMED, NEW_CONFIRMED } from '../rules/addresses/email-change.ts';

/**
 * The codes a change of address needs: one to the new one, and one to the present one where both must agree. The hook
 * `send_email` gets both in one message.
 */
export function emailChangeCodes(
  context: AuthContext,
  user: UserRow,
  newEmail: string,
  link: LinkWish,
): PreparedCode[] {
  const { email, raw_user_meta_data: data, email_change_confirm_status: status } = user;
  const order = { ...link, data, newEmail, ...(email === null ? {} : { email }) };
  const present =
    email !== null && asksBothAddresses(email, context.settings) && status !== CURRENT_CONFIRMED
      ? prepareMailCode(context, { ...order, purpose: 'email_change_current', to: email })
      : undefined;
  if (status === NEW_CONFIRMED) return present === undefined ? [] : [present];
  const toNew: MailCode = { ...order, purpose: 'email_change_new', to: newEmail };
  if (present === undefined) return [prepareMailCode(context, toNew)];
  if (context.outside.hooks.send_email === undefined) return [prepareMailCode(context, toNew), present];
  const unsent = { ...present, stored: { ...present.stored, effect: undefined } };
  return [prepareMailCode(context, { ...toNew, present }), unsent];
}
