import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { provenFactors } from '../rules/access/second-factor.ts';
import { askAuth, endSession } from './ask-auth.ts';
import { proveFactor, tokenOf } from './prove-factor.ts';

/** What somebody presents. */
export interface PresentedPassword {
  email: string;
  password: string;
  /** Of his second factor; undefined when he sent none. */
  code: string | undefined;
  /** Address of who presents it. */
  client: string | undefined;
  /** Whether what was answered before counts as well, for a code from the same address only; else a code is good once. */
  mayBeKnown: boolean;
}

/** What becomes of a password: only whoever knows the right one learns that there is a second factor. */
export type PasswordAnswer =
  /** With the access token that the auth service gave for it, just now or a while ago. */
  | { kind: 'right'; token: string; isRemembered?: boolean }
  | { kind: 'wrong' }
  /** The password is right and not enough; `hasApp` when the code of an authenticator app is. */
  | { kind: 'code-needed'; hasApp: boolean }
  | { kind: 'code-wrong' };

type RightAnswer = Extract<PasswordAnswer, { kind: 'right' }>;

/** Asks the auth service whether a password is right, and where that is not enough the code of the second factor. */
export interface PasswordCheck {
  check(presented: PresentedPassword): Promise<PasswordAnswer>;
}

/** git sends its password with every request; a right one is not asked about again for this long. */
const REMEMBER_MS = 60_000;
/**
 * A program sends its code with each of the few requests in which it makes a token (tea lists them first). From the same
 * address they count as one for as long as a code is shown.
 */
const REMEMBER_CODE_MS = 30_000;

/**
 * The password grant of the auth service at `authUrl`. Right answers are remembered, under a keyed hash; wrong ones are not.
 * Who asks while the same is being asked gets that answer. The session that a grant opens ends at once: nobody refreshes it,
 * and where people may have one only it must not take the place of the one they have.
 */
export function passwordCheck(authUrl: string): PasswordCheck {
  const key = randomBytes(32);
  const right = new LRUCache<string, RightAnswer>({
    maxSize: 10_000,
    sizeCalculation: () => 1,
    ttl: REMEMBER_MS,
  });
  const underWay = new Map<string, Promise<PasswordAnswer>>();
  return {
    async check(presented) {
      const { email, password, code, client = '', mayBeKnown } = presented;
      if (!mayBeKnown) return await question(authUrl, presented);
      const all = code === undefined ? [email, password] : [email, password, code, client];
      const name = createHmac('sha256', key).update(JSON.stringify(all)).digest('base64');
      const ask = async (): Promise<PasswordAnswer> => {
        const answer = await question(authUrl, presented);
        const ttl = code === undefined ? REMEMBER_MS : REMEMBER_CODE_MS;
        if (answer.kind === 'right') right.set(name, answer, { ttl });
        return answer;
      };
      const remembered = right.get(name);
      if (remembered !== undefined) return { ...remembered, isRemembered: true };
      const known = underWay.get(name);
      if (known !== undefined) return await known;
      const asked = ask().finally(() => underWay.delete(name));
      underWay.set(name, asked);
      return await asked;
    },
  };
}

async function question(
  authUrl: string,
  { email, password, code, client }: PresentedPassword,
): Promise<PasswordAnswer> {
  const path = '/token?grant_type=password';
  const session = await askAuth(authUrl, { path, body: { email, password }, client });
  const token = tokenOf(session);
  if (token === undefined) return { kind: 'wrong' };
  try {
    const factors = provenFactors(session?.['user']);
    if (factors.length === 0) return { kind: 'right', token };
    if (code === undefined)
      return { kind: 'code-needed', hasApp: factors.some(({ type }) => type === 'totp') };
    const raised = await proveFactor(authUrl, { token, factors, code, client });
    return raised === undefined ? { kind: 'code-wrong' } : { kind: 'right', token: raised };
  } finally {
    // The access token goes on as long as its signature does.
    await endSession(authUrl, token, client);
  }
}
