/** The account that already has the address, as far as sign-up depends on it. */
export interface ExistingAccount {
  confirmed: boolean;
}

/** What a sign-up comes to. */
export type SignUp =
  | 'create' // nobody has the address
  | 'confirm-again' // the account was never confirmed: a new mail, and what comes with it counts once it is proven
  | 'confirm-now' // likewise, but addresses need no confirmation any more
  | 'disguise' // somebody has it: the answer must not tell
  | 'refuse'; // somebody has it, and without confirmation mails there is nothing left to hide

/** Sign-up of an address (as in GoTrue, steps 12 to 15). */
export function decideSignUp(existing: ExistingAccount | undefined, autoconfirm: boolean): SignUp {
  if (existing === undefined) return 'create';
  if (existing.confirmed) return autoconfirm ? 'refuse' : 'disguise';
  return autoconfirm ? 'confirm-now' : 'confirm-again';
}
