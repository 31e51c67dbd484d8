import type { IssuedClaims } from '../tokens/claims.ts';

type JsonType = 'string' | 'integer' | 'object' | 'array';

/** More than any metadata; far more could not be written as JSON. */
const MAX_DEPTH = 1000;

/** Types the claims of the protocol must keep; those a hook adds may be anything (as in GoTrue). */
const TYPES: Readonly<Record<string, readonly JsonType[]>> = {
  aud: ['string', 'array'],
  exp: ['integer'],
  jti: ['string'],
  iat: ['integer'],
  iss: ['string'],
  nbf: ['integer'],
  sub: ['string'],
  email: ['string'],
  phone: ['string'],
  app_metadata: ['object'],
  user_metadata: ['object'],
  role: ['string'],
  aal: ['string'],
  amr: ['array'],
  session_id: ['string'],
};

/** Claims no token does without. */
const REQUIRED = [
  'aud',
  'exp',
  'iat',
  'sub',
  'email',
  'phone',
  'role',
  'aal',
  'session_id',
  'is_anonymous',
] as const;

/** Claims that say who was signed in, when and how well: another value would be somebody else's token. */
const KEPT = ['sub', 'session_id', 'iat', 'aal'] as const;

/**
 * Says what is wrong with the claims a hook gave back.
 * @returns undefined when a token may carry them
 */
export function problemWithClaims(given: IssuedClaims, changed: unknown): string | undefined {
  if (changed === undefined) return 'output claims field is missing';
  if (typeOf(changed) !== 'object') return nonconforming(['(root): expected an object']);
  if (!isWithin(changed, MAX_DEPTH)) return 'output claims are nested too deeply';
  const claims = changed as Record<string, unknown>;
  const problems = [
    ...REQUIRED.filter((name) => claims[name] === undefined).map((name) => `(root): ${name} is required`),
    ...Object.entries(TYPES).flatMap(([name, types]) => {
      const value = claims[name];
      return value === undefined || types.some((type) => type === typeOf(value))
        ? []
        : [`${name}: expected ${types.join(' or ')}`];
    }),
    ...KEPT.filter((name) => claims[name] !== undefined && claims[name] !== given[name]).map(
      (name) => `${name}: cannot be changed`,
    ),
    ...(Array.isArray(claims['amr']) && !claims['amr'].every(hasMethod)
      ? ['amr: expected objects with a method']
      : []),
    ...(Number(claims['exp']) <= given.iat ? ['exp: must be later than iat'] : []),
  ];
  return problems.length === 0 ? undefined : nonconforming(problems);
}

function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => isWithin(member, depth - 1));
}

function hasMethod(one: unknown): boolean {
  return typeOf(one) === 'object' && typeof (one as { method?: unknown }).method === 'string';
}

function nonconforming(problems: readonly string[]): string {
  return `output claims do not conform to the expected schema: \n${problems.map((problem) => `- ${problem}\n`).join('')}`;
}

function typeOf(value: unknown): JsonType | undefined {
  if (typeof value === 'string') return 'string';
  if (Number.isSafeInteger(value)) return 'integer';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'object' && value !== null ? 'object' : undefined;
}
