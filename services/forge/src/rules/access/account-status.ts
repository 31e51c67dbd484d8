import { provenFactors } from './second-factor.ts';
import { fullNameOf } from './user-metadata.ts';

/** What the auth service says of an account's owner. */
export interface AccountStatus {
  /** Banned or deleted. */
  isRefused: boolean;
  /** Of whoever is welcome; undefined when the answer does not say. */
  role: string | undefined;
  /** What is shown of whoever is welcome; undefined when the answer does not tell both. */
  shown: { email: string; fullName: string } | undefined;
  /** Whether he has a second factor; undefined of whoever is not welcome. */
  hasFactor: boolean | undefined;
}

/** How long an answer counts: whoever is banned or deleted is refused a minute later at the latest. */
export const STATUS_COUNTS_MS = 60_000;

/** Whether it is time to ask again. */
export function isStale(checkedAt: Date | null, now: Date): boolean {
  return checkedAt === null || now.getTime() - checkedAt.getTime() >= STATUS_COUNTS_MS;
}

/**
 * Reads the answer to `GET /admin/users/<id>`.
 * @returns undefined for answers that say nothing about the user: only the service's own word that there is none
 *   counts as such, not the 404 of a proxy or of a service without the endpoint
 */
export function readStatus(httpStatus: number, body: unknown, now: Date): AccountStatus | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const {
    id,
    error_code: code,
    deleted_at: deletedAt,
    banned_until: bannedUntil,
    role,
    email,
    user_metadata: metadata,
  } = body as AdminAnswer;
  if (httpStatus === 404 && code === 'user_not_found') return REFUSED;
  if (httpStatus !== 200 || id === undefined) return undefined;
  if (typeof deletedAt === 'string') return REFUSED;
  if (typeof bannedUntil === 'string' && lasts(bannedUntil, now)) return REFUSED;
  return {
    isRefused: false,
    role: typeof role === 'string' ? role : undefined,
    shown: typeof email === 'string' && metadata ? { email, fullName: fullNameOf(metadata) } : undefined,
    hasFactor: provenFactors(body).length > 0,
  };
}

const REFUSED: AccountStatus = { isRefused: true, role: undefined, shown: undefined, hasFactor: undefined };

type AdminAnswer = Readonly<
  Partial<
    Record<'id' | 'error_code' | 'deleted_at' | 'banned_until' | 'role' | 'email' | 'user_metadata', unknown>
  >
>;

/** `infinity` is a time only to PostgreSQL. */
function lasts(until: string, now: Date): boolean {
  return until === 'infinity' || new Date(until).getTime() > now.getTime();
}
