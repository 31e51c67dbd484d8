import { type FormServer, formServer } from './form-server.ts';

/** A CAPTCHA provider on loopback. */
export interface CaptchaEmulator extends FormServer {
  /** The settings that point the service at it. */
  readonly environment: Record<string, string>;
  /** A token of a person who solved the puzzle; it is good once. */
  solve(): string;
}

const SECRET = 'captcha-secret';

/** Starts a provider that speaks as hCaptcha and Turnstile do. */
export async function captchaEmulator(provider: 'hcaptcha' | 'turnstile'): Promise<CaptchaEmulator> {
  const solved = new Set<string>();
  const spent = new Set<string>();
  const refuse = (...codes: string[]) => ({ status: 200, body: { success: false, 'error-codes': codes } });
  const server = await formServer(({ method, path, form }) => {
    if (method !== 'POST' || path !== '/siteverify') return { status: 404, body: 'Not Found' };
    const token = form?.get('response') ?? '';
    if (form?.get('secret') !== SECRET) return refuse('invalid-input-secret');
    if (token === '') return refuse('missing-input-response');
    if (spent.has(token)) return refuse('timeout-or-duplicate');
    if (!solved.delete(token)) return refuse('invalid-input-response');
    spent.add(token);
    return {
      status: 200,
      body: { success: true, challenge_ts: '2026-01-02T03:04:05Z', hostname: 'site.example' },
    };
  });
  let count = 0;
  return {
    ...server,
    environment: {
      AUTHSVC_SECURITY_CAPTCHA_ENABLED: 'true',
      AUTHSVC_SECURITY_CAPTCHA_PROVIDER: provider,
      AUTHSVC_SECURITY_CAPTCHA_SECRET: SECRET,
      AUTHSVC_SECURITY_CAPTCHA_URL: `${server.url}/siteverify`,
    },
    solve() {
      count += 1;
      const token = `10000000-aaaa-bbbb-cccc-${String(count).padStart(12, '0')}`;
      solved.add(token);
      return token;
    },
  };
}
