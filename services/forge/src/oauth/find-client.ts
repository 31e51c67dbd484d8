import { timingSafeEqual } from 'node:crypto';
import type { Context } from '../context.ts';
import { sha256 } from '../rules/oauth/code-challenge.ts';
import type { ApplicationRow } from '../store/people/oauth-applications.ts';
import { findApplication } from './find-application.ts';
import { OauthRefusal } from './oauth-refusal.ts';
import type { Fields } from './read-question.ts';

/** How a program says which one it is (RFC 6749 §2.3.1). */
export interface Presented {
  clientId: string;
  secret: string;
}

/**
 * Reads it from the `Authorization` header, or from the form.
 * @throws OauthRefusal when the header is malformed, or names another program than the form
 */
export function readClient(authorization: string | undefined, fields: Fields): Presented {
  const { client_id: clientId = '', client_secret: secret = '' } = fields;
  const [, value] = /^\s*basic\s+(\S+)\s*$/i.exec(authorization ?? '') ?? [];
  if (value === undefined) return { clientId, secret };
  const pair = Buffer.from(value, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  const [first, second] = [pair.slice(0, colon), pair.slice(colon + 1)].map(decoded);
  if (colon === -1 || first === undefined || second === undefined)
    throw new OauthRefusal('invalid_request', 'the Authorization header cannot be read');
  if (clientId !== '' && clientId !== first)
    throw new OauthRefusal('invalid_request', 'client_id is another one than in the Authorization header');
  return { clientId: first, secret: second };
}

/**
 * The program that presents itself.
 * @throws OauthRefusal when it is not known, or its secret is not the right one
 */
export async function findClient(context: Context, { clientId, secret }: Presented): Promise<ApplicationRow> {
  const found = await findApplication(context, clientId);
  const hash = found?.secret_hash;
  const isRight = found?.is_confidential === false || (hash != null && timingSafeEqual(hash, sha256(secret)));
  if (found === undefined || !isRight)
    throw new OauthRefusal('invalid_client', 'client_id or client_secret is not right');
  return found;
}

/** As in forms (RFC 6749 §2.3.1); undefined when it is malformed. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
