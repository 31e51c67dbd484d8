/** An address a provider knows somebody by, as it would be stored. */
export interface LinkEmail {
  address: string;
  verified: boolean;
  primary: boolean;
}

/** An account that may be the person's own. */
export interface LinkAccount {
  id: string;
  email: string | null;
  /** Whether it counts as its owner's to whoever has its address. */
  confirmed: boolean;
  hasProvenNumber: boolean;
  banned: boolean;
}

/** Who has something to do with somebody who comes from a provider. */
export interface LinkCandidates<Account extends LinkAccount> {
  /** Who signed in before with this identity. */
  known: Account | undefined;
  /** Who proved to have one of the verified addresses. */
  owners: readonly Account[];
  /** Who has one without a proof. */
  claimants: readonly Account[];
  /** Addresses that are not free, whoever has them. */
  taken: readonly string[];
}

/** What the operator allows. */
export interface LinkPolicy {
  autoconfirm: boolean;
  signupDisabled: boolean;
  /** Whether people come in with an address nobody vouches for. */
  allowUnverified: boolean;
  /** Whether people of this provider come in without an address. */
  emailOptional: boolean;
}

/** What a sign-in by way of a provider comes to. */
export type LinkDecision<Account extends LinkAccount> =
  /**
   * They are in. `confirms`: the provider vouches for the account's address, which nobody proved before; what a
   * stranger may have prepared there goes.
   */
  | { outcome: 'sign-in'; account: Account; links: boolean; confirms: boolean }
  | { outcome: 'create'; email: string | null; confirmed: boolean }
  /** A mail asks the owner of the address, of an account that is there or is made now. */
  | { outcome: 'confirm-first'; account: Account | undefined; email: string }
  /** Answered as `confirm-first`, because that somebody has the address must not show; but nobody is asked. */
  | { outcome: 'unverified'; email: string }
  | { outcome: 'refuse'; because: 'banned' | 'ambiguous' | 'signup-disabled' | 'no-email' };

/** The address an identity is known by: the primary one, else the last. */
export function chosenEmail(emails: readonly LinkEmail[]): LinkEmail | undefined {
  return emails.find(({ primary }) => primary) ?? emails.at(-1);
}

/**
 * Whose account it is that somebody comes to from a provider (as in GoTrue). Only an address that the
 * provider verified leads to an account that is there already. The reference trusts all of them under autoconfirm; here
 * that setting confirms new accounts and opens none of somebody else's.
 */
export function decideLinking<Account extends LinkAccount>(
  emails: readonly LinkEmail[],
  { known, owners, claimants, taken }: LinkCandidates<Account>,
  policy: LinkPolicy,
): LinkDecision<Account> {
  if (known !== undefined) return decideKnown(emails, known, policy);
  // Whoever claims an address must not keep its owner from an account that is theirs.
  const [owner, ...others] = owners.length > 0 ? owners : claimants;
  if (others.length > 0) return { outcome: 'refuse', because: 'ambiguous' };
  if (owner !== undefined) {
    if (owner.banned) return { outcome: 'refuse', because: 'banned' };
    return { outcome: 'sign-in', account: owner, links: true, confirms: isProven(emails, owner) };
  }
  return decideNew(emails, taken, policy);
}

function decideKnown<Account extends LinkAccount>(
  emails: readonly LinkEmail[],
  account: Account,
  policy: LinkPolicy,
): LinkDecision<Account> {
  if (account.banned) return { outcome: 'refuse', because: 'banned' };
  const confirms = isProven(emails, account);
  const signIn = { outcome: 'sign-in', account, links: false, confirms } as const;
  // Without an address there is nothing left to prove; nor is it asked of who can come in by a number as well.
  if (account.confirmed || account.hasProvenNumber || account.email === null) return signIn;
  if (confirms || policy.allowUnverified) return signIn;
  if (policy.autoconfirm) return { ...signIn, confirms: true };
  return { outcome: 'confirm-first', account, email: account.email };
}

/** Whether the provider vouches for an address that the account has and never confirmed. */
function isProven(emails: readonly LinkEmail[], account: LinkAccount): boolean {
  return !account.confirmed && emails.some((one) => one.verified && one.address === account.email);
}

function decideNew<Account extends LinkAccount>(
  emails: readonly LinkEmail[],
  taken: readonly string[],
  policy: LinkPolicy,
): LinkDecision<Account> {
  if (emails.length === 0 && !policy.emailOptional) return { outcome: 'refuse', because: 'no-email' };
  if (policy.signupDisabled) return { outcome: 'refuse', because: 'signup-disabled' };
  const chosen = chosenEmail(emails);
  if (chosen === undefined) return { outcome: 'create', email: null, confirmed: false };
  const verified = emails.filter((one) => one.verified);
  const proven = chosenEmail(verified.filter(({ address }) => !taken.includes(address)));
  if (proven !== undefined) return { outcome: 'create', email: proven.address, confirmed: true };
  // Somebody has the address and proved something else: the person gets in, the address stays with them.
  if (verified.length > 0) return { outcome: 'create', email: null, confirmed: false };
  const isFree = !taken.includes(chosen.address);
  if (policy.autoconfirm)
    return { outcome: 'create', email: isFree ? chosen.address : null, confirmed: isFree };
  if (policy.allowUnverified) {
    return { outcome: 'create', email: isFree ? chosen.address : null, confirmed: false };
  }
  if (isFree) return { outcome: 'confirm-first', account: undefined, email: chosen.address };
  return { outcome: 'unverified', email: chosen.address };
}
