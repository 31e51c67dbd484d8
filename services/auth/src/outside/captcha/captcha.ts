import type { OutgoingHttp } from '@croft/http/outgoing';
import { z } from 'zod';
import type { AuthSettings } from '../../settings/index.ts';
import { withinRequest } from '../request-share.ts';

/** Tells whether a person solved the puzzle a token stands for. */
export interface Captcha {
  /**
   * Asks once: providers accept each token a single time.
   * @returns why the token is refused, in the provider's words; undefined when it is accepted
   * @throws Error when the provider gives no verdict
   */
  refusalOf(token: string, ip: string | null): Promise<readonly string[] | undefined>;
}

const SITES = {
  hcaptcha: 'https://hcaptcha.com/siteverify',
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
} as const satisfies Record<AuthSettings['SECURITY_CAPTCHA_PROVIDER'], string>;

// Both providers speak the protocol of the first service of the kind.
const verdict = z.object({ success: z.boolean(), 'error-codes': z.array(z.string()).nullish() });

const MAX_ANSWER_BYTES = 65_536;

/** The check the settings ask for; undefined when they ask for none. */
export function openCaptcha(settings: AuthSettings, http: OutgoingHttp): Captcha | undefined {
  if (!settings.SECURITY_CAPTCHA_ENABLED) return undefined;
  const url = settings.SECURITY_CAPTCHA_URL ?? SITES[settings.SECURITY_CAPTCHA_PROVIDER];
  // Without a secret every token is refused; the start of the service has refused that before.
  const secret = settings.SECURITY_CAPTCHA_SECRET?.reveal() ?? '';
  return {
    async refusalOf(token, ip) {
      const answer = await http(url, {
        form: { secret, response: token, ...(ip === null ? {} : { remoteip: ip }) },
        timeoutMs: withinRequest(settings, settings.SECURITY_CAPTCHA_TIMEOUT),
        maxBytes: MAX_ANSWER_BYTES,
      });
      const given = verdict.safeParse(answer.json());
      if (!given.success) throw new Error(`${new URL(url).host} answered ${answer.status} without a verdict`);
      const { success, 'error-codes': codes } = given.data;
      return success ? undefined : (codes ?? []);
    },
  };
}
