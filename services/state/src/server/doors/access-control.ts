import type { AccessTokens } from '@croft/access-token';
import { Failure } from '@croft/failure';
import type { Metadata } from '@grpc/grpc-js';
import type { Model } from '../../model/model.ts';
import { findAccount, isMember } from '../../outside/identity/accounts.ts';
import type { Directory } from '../../outside/identity/directory.ts';
import { type Caller, checkAccess, isBornAdministrator } from '../../rules/access/access.ts';
import type { Right } from '../../rules/access/rights.ts';
import type { Connections } from './connections.ts';

/** What a call shows of its caller. */
interface WireCall {
  readonly metadata: Metadata;
  getPeer(): string;
}

/** Who administrates, and how tokens are verified. */
export interface AccessOptions {
  readonly connections: Connections;
  /** Undefined where no token can be verified. */
  readonly tokens: AccessTokens | undefined;
  /** Roles of tokens whose bearers administrate. */
  readonly adminRoles: readonly string[];
  /** Asks the system about users and groups. */
  readonly directory: Directory;
  /** The group whose members administrate. */
  readonly adminGroup: string | undefined;
}

/** Something that a caller asks for. */
export interface Asked<R> {
  readonly operation: string;
  readonly right: Right<R>;
  readonly request: R;
  readonly model: Model;
}

/** Tells who calls, and whether he may. */
export class AccessControl {
  readonly #options: AccessOptions;
  readonly #daemonUid = process.getuid?.();

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  /** Who makes a call: whoever opened the connection, or over TLS the bearer of the token it shows. */
  callerOf(wire: WireCall): Caller {
    const caller = this.#options.connections.find(wire.getPeer());
    if (caller === undefined) return { kind: 'stranger', why: 'the connection is gone' };
    const authorization = wire.metadata.get('authorization').at(0);
    // At the unix socket the system says who it is.
    if (caller.kind === 'local' || authorization === undefined) return caller;
    const bearer = this.#bearerOf(String(authorization));
    // Anybody may sign up with auth, and would have as many connections as accounts.
    if (bearer.kind === 'token' && bearer.admin) this.#options.connections.identify(wire.getPeer());
    return bearer;
  }

  /** Lets a caller have what he asks for, or refuses him. @throws UNAUTHENTICATED, PERMISSION_DENIED, UNAVAILABLE */
  async check<R>(caller: Caller, { operation, right, request, model }: Asked<R>): Promise<void> {
    // Every user of the machine may read, so nobody's groups are asked for.
    const isAdministrator =
      !(right === 'read' && caller.kind === 'local') && (await this.isAdministrator(caller));
    const own = typeof right === 'object' ? right.own : undefined;
    checkAccess(caller, {
      operation,
      right: typeof right === 'object' ? 'own' : right,
      isAdministrator,
      isOwner: own !== undefined && !isAdministrator && (await this.#owns(caller, () => own(request, model))),
      administrators: this.#administrators,
    });
  }

  /** Whether a caller may do everything. @throws UNAVAILABLE when the system does not say who is in the group */
  async isAdministrator(caller: Caller): Promise<boolean> {
    return isBornAdministrator(caller, this.#daemonUid) || (await this.#isInAdminGroup(caller));
  }

  get #administrators(): string {
    const { adminGroup } = this.#options;
    const group = adminGroup === undefined ? '' : `, members of the group ${adminGroup}`;
    return `root, the user that the daemon runs as${group}, and over TLS certificates and access tokens of administrators`;
  }

  #bearerOf(authorization: string): Caller {
    const { tokens, adminRoles } = this.#options;
    const token = /^bearer +(\S+)$/i.exec(authorization)?.[1];
    if (token === undefined)
      return { kind: 'stranger', why: 'the metadata `authorization` is not `Bearer <token>`' };
    if (tokens === undefined)
      return { kind: 'stranger', why: 'this daemon has no keys to verify access tokens with' };
    try {
      const { sub, role = '' } = tokens.verify(token);
      return { kind: 'token', name: sub ?? role, admin: adminRoles.includes(role) };
    } catch (error) {
      return { kind: 'stranger', why: (error as Error).message };
    }
  }

  async #isInAdminGroup(caller: Caller): Promise<boolean> {
    const { adminGroup } = this.#options;
    if (adminGroup === undefined || caller.kind !== 'local' || caller.uid === undefined) return false;
    const account = await findAccount(this.#options.directory, caller.uid);
    return account !== undefined && (await isMember(this.#options.directory, account, adminGroup));
  }

  /** Whether the user whose state it is, is the caller. A state that is not there is nobody's. */
  async #owns(caller: Caller, findOwner: () => string | undefined): Promise<boolean> {
    if (caller.kind !== 'local' || caller.uid === undefined) return false;
    let owner: string | undefined;
    try {
      owner = findOwner();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
    }
    return owner !== undefined && (await findAccount(this.#options.directory, owner))?.uid === caller.uid;
  }
}
