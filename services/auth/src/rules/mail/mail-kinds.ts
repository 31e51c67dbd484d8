/** What the settings and the contract say of one kind of mail. */
interface MailKindFacts {
  subjectSetting: string;
  templateSetting: string;
  /** Path of the link; a mail without one brings only a code. */
  pathSetting: string | undefined;
  /** Also the subject, should the one of the settings not be usable. */
  defaultSubject: string;
  heading: string;
  linkText: string | undefined;
}

/**
 * The mails there are, with the headings and link texts of the contract's Email table. It has no reauthentication
 * mail; that one brings a code only. Magic links use the path of recovery mails (as in GoTrue).
 */
export const mailKinds = {
  invite: {
    subjectSetting: 'MAILER_SUBJECTS_INVITE',
    templateSetting: 'MAILER_TEMPLATES_INVITE',
    pathSetting: 'MAILER_URLPATHS_INVITE',
    defaultSubject: 'You have been invited',
    heading: 'You have been invited',
    linkText: 'Accept the invite',
  },
  confirmation: {
    subjectSetting: 'MAILER_SUBJECTS_CONFIRMATION',
    templateSetting: 'MAILER_TEMPLATES_CONFIRMATION',
    pathSetting: 'MAILER_URLPATHS_CONFIRMATION',
    defaultSubject: 'Confirm Your Signup',
    heading: 'Confirm your signup',
    linkText: 'Confirm your mail',
  },
  recovery: {
    subjectSetting: 'MAILER_SUBJECTS_RECOVERY',
    templateSetting: 'MAILER_TEMPLATES_RECOVERY',
    pathSetting: 'MAILER_URLPATHS_RECOVERY',
    defaultSubject: 'Reset Your Password',
    heading: 'Reset Password',
    linkText: 'Reset Password',
  },
  magic_link: {
    subjectSetting: 'MAILER_SUBJECTS_MAGIC_LINK',
    templateSetting: 'MAILER_TEMPLATES_MAGIC_LINK',
    pathSetting: 'MAILER_URLPATHS_RECOVERY',
    defaultSubject: 'Your Magic Link',
    heading: 'Magic Link',
    linkText: 'Log In',
  },
  email_change: {
    subjectSetting: 'MAILER_SUBJECTS_EMAIL_CHANGE',
    templateSetting: 'MAILER_TEMPLATES_EMAIL_CHANGE',
    pathSetting: 'MAILER_URLPATHS_EMAIL_CHANGE',
    defaultSubject: 'Confirm Email Change',
    heading: 'Confirm Change of Email',
    linkText: 'Change Email',
  },
  reauthentication: {
    subjectSetting: 'MAILER_SUBJECTS_REAUTHENTICATION',
    templateSetting: 'MAILER_TEMPLATES_REAUTHENTICATION',
    pathSetting: undefined,
    defaultSubject: 'Confirm reauthentication',
    heading: 'Confirm reauthentication',
    linkText: undefined,
  },
} as const satisfies Record<string, MailKindFacts>;

/** The mails there are. */
export type MailKind = keyof typeof mailKinds;

/** What a mail can speak of. */
export interface MailData {
  siteUrl: string;
  /** Empty in mails that bring only a code. */
  confirmationUrl: string;
  /** The present address of the user. */
  email: string;
  /** The code. */
  token: string;
  /** The token of the link. */
  tokenHash: string;
  /** The user's metadata: whatever the user stored. */
  data: Record<string, unknown>;
  redirectTo: string;
  /** The address that is wanted, in mails about a change. */
  newEmail?: string;
  sendingTo?: string;
  /** What the present address gets, where one request of a hook brings the codes of both. */
  present?: { token: string; tokenHash: string };
}

/** A mail that is to be written and sent. */
export interface MailOrder {
  kind: MailKind;
  to: string;
  data: MailData;
  /** When what it brings is worth nothing any more: one that comes later only confuses. */
  expiresAt: Date;
}
