import type { App } from '@croft/http';
import { z } from 'zod';
import type { AuthContext } from '../context.ts';
import { publicSettingsJson } from './public-settings-json.ts';

/** GET /settings */
export function publicSettingsRoutes(app: App, context: AuthContext): void {
  app.get(
    '/settings',
    {
      schema: {
        summary: 'What clients may know of the configuration',
        tags: ['public settings'],
        response: {
          200: z.object({
            external: z.record(z.string(), z.boolean()),
            disable_signup: z.boolean(),
            autoconfirm: z.boolean(),
            mailer_autoconfirm: z.boolean(),
            phone_autoconfirm: z.boolean(),
            sms_provider: z.string(),
            saml_enabled: z.boolean(),
            saml_private_key_next_configured: z.boolean(),
            mfa_enabled: z.boolean(),
            passkeys_enabled: z.boolean(),
          }),
        },
      },
    },
    () => publicSettingsJson(context.settings),
  );
}
