/** The hooks there are, as settings name them, and what each is called in its requests (as in GoTrue). */
export const hookNames = {
  send_sms: 'send-sms',
  send_email: 'send-email',
  custom_access_token: 'customize-access-token',
  mfa_verification_attempt: 'mfa-verification',
  password_verification_attempt: 'password-verification',
  before_user_created: 'before-user-created',
  after_user_created: 'after-user-created',
} as const;

/** A hook as settings name it, in lower case. */
export type HookName = keyof typeof hookNames;

/** All of them. */
export const allHooks = Object.keys(hookNames) as HookName[];
