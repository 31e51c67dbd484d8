import { boolean, type Secret, type Setting, secret, text, type Values } from '@croft/settings';
import { allHooks, type HookName } from '../rules/hooks/hook-names.ts';
import { readHookTarget } from '../rules/hooks/hook-target.ts';
import { readWebhookKeys } from '../rules/hooks/webhook-signature.ts';

/** What every hook can be told; `<HOOK>` stands for each of them in capitals. */
const ofEveryHook = {
  ENABLED: {
    kind: boolean,
    default: 'false',
    about: `The hook is asked. \`<HOOK>\` is one of ${allHooks.map((name) => `\`${name.toUpperCase()}\``).join(', ')}.`,
  },
  URI: {
    kind: text,
    about:
      'Where the hook is: `https://…`, `http://…` on this machine, or `pg-functions://<database>/<schema>/<function>`; required when enabled.',
  },
  SECRETS: {
    kind: secret,
    about:
      'Keys that sign requests to an endpoint, `v1,whsec_<base64>`, several separated by `|`; required for endpoints.',
  },
} as const satisfies Record<string, Setting<unknown>>;

type Members = typeof ofEveryHook;
type Family<M extends keyof Members> = { [Name in `HOOK_${Uppercase<HookName>}_${M}`]: Members[M] };
/** `HOOK_SEND_SMS_URI` and its siblings, each with the kind its member has. */
type HookSettings = Family<'ENABLED'> & Family<'URI'> & Family<'SECRETS'>;

/** The operator's own code that has a say. */
export const hookSettings: HookSettings = Object.fromEntries(
  allHooks.flatMap((name) =>
    Object.entries<Setting<unknown>>(ofEveryHook).map(([member, setting]) => [
      `HOOK_${name.toUpperCase()}_${member}`,
      { ...setting, familyName: `HOOK_<HOOK>_${member}` },
    ]),
  ),
) as unknown as HookSettings;

/** How one hook is configured. */
export interface HookConfiguration {
  readonly enabled: boolean;
  readonly uri: string | undefined;
  readonly secrets: Secret | undefined;
}

/** What the settings say about one hook. */
export function hookSettingsOf(settings: Values<HookSettings>, hook: HookName): HookConfiguration {
  const name = hook.toUpperCase() as Uppercase<HookName>;
  return {
    enabled: settings[`HOOK_${name}_ENABLED`],
    uri: settings[`HOOK_${name}_URI`],
    secrets: settings[`HOOK_${name}_SECRETS`],
  };
}

/** What no setting of a hook can say about itself, with the variables' full names and nothing of a secret. */
export function checkHooks(settings: Values<HookSettings>): string[] {
  return allHooks.flatMap((hook) => {
    const { enabled, uri, secrets } = hookSettingsOf(settings, hook);
    const prefix = `AUTHSVC_HOOK_${hook.toUpperCase()}_`;
    if (!enabled) return [];
    if (uri === undefined) return [`${prefix}URI is required with ${prefix}ENABLED`];
    return [
      ...problemsOf(`${prefix}URI`, () => readHookTarget(uri)),
      ...(secrets === undefined
        ? /^https?:/i.test(uri)
          ? [`${prefix}SECRETS is required: an endpoint cannot tell our requests from others without it`]
          : []
        : problemsOf(`${prefix}SECRETS`, () => readWebhookKeys(secrets.reveal()))),
    ];
  });
}

function problemsOf(name: string, read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    return [`${name} ${(error as Error).message}`];
  }
}
