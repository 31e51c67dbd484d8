/** Members of the body that an administrator makes or changes a user with; empty texts and false mean nothing. */
export interface UserFields {
  role: string;
  email: string;
  phone: string;
  password: string;
  /** A hash from elsewhere, instead of a password. */
  passwordHash: string;
  emailConfirm: boolean;
  phoneConfirm: boolean;
  userMetadata: Record<string, unknown>;
  appMetadata: Record<string, unknown>;
  banDuration: string;
}
