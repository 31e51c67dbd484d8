import { Failure } from '@croft/failure';

export const identityIdNotUuid = (): Failure =>
  new Failure('not-found', 'validation_failed', 'identity_id must be an UUID');
export const identityUnknown = (): Failure =>
  new Failure('unprocessable', 'identity_not_found', "Identity doesn't exist");
export const identityIsLast = (): Failure =>
  new Failure(
    'unprocessable',
    'single_identity_not_deletable',
    'User must have at least 1 identity after unlinking',
  );
/** The address that would become the account's is somebody else's. */
export const identityEmailConflict = (): Failure =>
  new Failure(
    'unprocessable',
    'email_conflict_identity_not_deletable',
    'Unable to unlink identity due to email conflict',
  );
export const identityLinkedAlready = (): Failure =>
  new Failure('unprocessable', 'identity_already_exists', 'Identity is already linked');
export const identityLinkedToOther = (): Failure =>
  new Failure('unprocessable', 'identity_already_exists', 'Identity is already linked to another user');
/** Who began to link is not signed in any more. */
export const linkingEnded = (): Failure =>
  new Failure('forbidden', 'session_not_found', 'The session that began to link this identity has ended');
/** Who has a second factor and did not show it may not change what the first one hangs on. */
export const identityNeedsAal2 = (): Failure =>
  new Failure(
    'unauthenticated',
    'insufficient_aal',
    'AAL2 session is required to link or unlink an identity when MFA is enabled.',
  );
