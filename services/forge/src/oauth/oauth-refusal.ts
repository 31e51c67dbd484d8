/** Codes of RFC 6749 §5.2. */
export type OauthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unsupported_grant_type';

/** What a program is refused, in the words of OAuth 2.0. */
export class OauthRefusal extends Error {
  override readonly name = 'OauthRefusal';
  readonly code: OauthErrorCode;

  constructor(code: OauthErrorCode, description: string) {
    super(description);
    this.code = code;
  }
}
