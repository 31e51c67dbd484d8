import { notAllowed, notIdentified } from '../../failures.ts';

/** Who calls, as far as the connection and the call tell. */
export type Caller =
  /** At the unix socket; without a uid the system did not tell who it is. */
  | { readonly kind: 'local'; readonly uid: number | undefined }
  /** Over TLS, with a certificate that our authority signed; `name` is what the certificate goes by. */
  | { readonly kind: 'certificate'; readonly name: string; readonly admin: boolean }
  /** Over TLS, with an access token of the auth service. */
  | { readonly kind: 'token'; readonly name: string; readonly admin: boolean }
  /** Over TLS, with nothing that counts; `why` ends the sentence "who calls is not known: …". */
  | { readonly kind: 'stranger'; readonly why: string };

/** What is asked for, and what was found out about who asks. */
export interface AccessQuestion {
  readonly operation: string;
  readonly right: 'read' | 'own' | 'admin';
  readonly isAdministrator: boolean;
  /** The state belongs to the caller. */
  readonly isOwner: boolean;
  /** Who may administrate, for whoever is refused. */
  readonly administrators: string;
}

/** Lets a caller through or refuses him. @throws UNAUTHENTICATED, PERMISSION_DENIED */
export function checkAccess(caller: Caller, question: AccessQuestion): void {
  if (caller.kind === 'stranger') throw notIdentified(caller.why);
  if (question.isAdministrator) return;
  // Anybody may sign up with auth, so a token alone makes nobody a user of this machine.
  if (question.right === 'read' && caller.kind !== 'token') return;
  if (caller.kind === 'local' && caller.uid === undefined)
    throw notIdentified('this system does not tell the daemon whose connection this is; it can still read');
  if (question.right === 'own' && question.isOwner) return;
  throw notAllowed(question);
}

/** Whether the caller administrates by what he is, without looking anything up. */
export function isBornAdministrator(caller: Caller, daemonUid: number | undefined): boolean {
  if (caller.kind === 'stranger') return false;
  if (caller.kind !== 'local') return caller.admin;
  return caller.uid !== undefined && (caller.uid === 0 || caller.uid === daemonUid);
}

/** A caller as the daemon's log has him. */
export function callerText(caller: Caller): string {
  if (caller.kind === 'local') return caller.uid === undefined ? 'unknown uid' : `uid ${caller.uid}`;
  return caller.kind === 'stranger' ? 'stranger' : `${caller.kind} ${caller.name}`;
}
