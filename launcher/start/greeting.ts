import type { RunningService } from '@croft/runtime';

/** What a person wants to read when Croft is up. */
export interface Greeting {
  readonly version: string;
  readonly seconds: number;
  readonly running: readonly RunningService[];
  readonly dataFolder: string;
  readonly logFile: string | undefined;
  readonly administrator: { email: string; password: string } | undefined;
  /** Whether to say how an administrator is made. */
  readonly lacksAdministrator: boolean;
}

/** The text for standard output. */
export function greet(greeting: Greeting): string {
  const { version, seconds, running, dataFolder, logFile } = greeting;
  const addresses = running.map(({ name, address }) => `  ${name.padEnd(8)}${address}`);
  return [
    `Croft ${version} is ready after ${seconds.toFixed(1)} s`,
    '',
    ...addresses,
    ...describeAdministrator(greeting),
    '',
    `Data is in ${dataFolder}, the log ${logFile === undefined ? 'on standard error' : `in ${logFile}`}. Ctrl-C stops Croft.`,
    'What next: "The first five minutes" in README.md.',
    '',
  ].join('\n');
}

function describeAdministrator({ administrator, lacksAdministrator }: Greeting): string[] {
  if (administrator !== undefined) {
    return [
      '',
      'The administrator of auth, shown only this once:',
      `  name      ${administrator.email}`,
      `  password  ${administrator.password}`,
    ];
  }
  if (!lacksAdministrator) return [];
  return [
    '',
    'In a database of your own you make the administrator: npx croft auth admin create-user <email>',
  ];
}
