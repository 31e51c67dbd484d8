import { type Kind, secret } from './kinds.ts';
import { nearestName } from './nearest-name.ts';

/** One setting: what it is, what it is when nobody says anything, and how else it may be called. */
export interface Setting<T> {
  readonly kind: Kind<T>;
  readonly about: string;
  /** The default as its text, so that the documentation shows what a person would write. */
  readonly default?: string;
  /** Reading fails when the variable is missing and there is no default. */
  readonly required?: boolean;
  /** Full names, prefix included, that are read when the own name is not set. */
  readonly alsoNamed?: readonly string[];
  /** The name that stands in the documentation for a whole family of settings, without the prefix; printed once. */
  readonly familyName?: string;
}

/** A setting with a default or a requirement always has a value. */
type Given = { readonly default: string } | { readonly required: true };

/** The values of a table: the variable's name without its prefix is the key. */
export type Values<T extends Record<string, Setting<unknown>>> = {
  readonly [K in keyof T]: T[K] extends Setting<infer V> ? (T[K] extends Given ? V : V | undefined) : never;
};

/** All settings of one service, and the prefix of their variables. */
export interface SettingsTable<
  T extends Record<string, Setting<unknown>> = Record<string, Setting<unknown>>,
> {
  readonly title: string;
  readonly prefix: string;
  readonly settings: T;
}

/** Declares the settings of a service. */
export function defineSettings<const T extends Record<string, Setting<unknown>>>(
  title: string,
  prefix: string,
  settings: T,
): SettingsTable<T> {
  return { title, prefix, settings };
}

/** Every problem of a configuration at once, each with its variable's full name. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * Reads a table from the environment. An empty variable counts as not set, as in every shell script.
 * @throws SettingsError with all problems, never with a secret's value
 */
export function readSettings<T extends Record<string, Setting<unknown>>>(
  table: SettingsTable<T>,
  environment: Readonly<Record<string, string | undefined>>,
): Values<T> {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(table.settings)) {
    const own = table.prefix + name;
    const isSet = (candidate: string) => (environment[candidate] ?? '') !== '';
    const used = isSet(own) ? own : (setting.alsoNamed?.find(isSet) ?? own);
    const given = environment[used] || setting.default;
    if (given === undefined) {
      if (setting.required === true) problems.push(`${own} is required: ${setting.about}`);
      continue;
    }
    try {
      values[name] = setting.kind.parse(given);
    } catch (error) {
      const shown = isSecret(setting) ? 'its value' : JSON.stringify(given);
      problems.push(`${used}: ${(error as Error).message}, not ${shown}`);
    }
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return Object.freeze(values) as Values<T>;
}

/** Variables that carry one of our prefixes but that no table knows, each with the nearest known name. */
export function unknownVariables(
  tables: readonly SettingsTable[],
  environment: Readonly<Record<string, string | undefined>>,
): { name: string; nearest: string | undefined }[] {
  const known = tables.flatMap((table) => [
    ...Object.keys(table.settings).map((name) => table.prefix + name),
    ...Object.values(table.settings).flatMap((setting) => setting.alsoNamed ?? []),
  ]);
  const prefixes = tables.map((table) => table.prefix).filter((prefix) => prefix !== '');
  return Object.keys(environment)
    .filter((name) => prefixes.some((prefix) => name.startsWith(prefix)) && !known.includes(name))
    .map((name) => ({ name, nearest: nearestName(name, known) }));
}

/** The table as Markdown rows for `docs/configuration.md`. */
export function describeSettings(table: SettingsTable): string {
  const printed = new Map(
    Object.entries(table.settings).map(([name, setting]) => [setting.familyName ?? name, setting]),
  );
  const rows = [...printed].map(([name, setting]) => {
    const names = [table.prefix + name, ...(setting.alsoNamed ?? [])].map((one) => `\`${one}\``).join(', ');
    const fallback =
      setting.default === undefined
        ? setting.required === true
          ? '**required**'
          : ''
        : `\`${setting.default}\``;
    return `| ${names} | ${setting.kind.label} | ${fallback} | ${setting.about} |`;
  });
  return [
    `## ${table.title}`,
    '',
    '| Variable | Kind | Default | Meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function isSecret(setting: Setting<unknown>): boolean {
  return setting.kind === secret;
}
