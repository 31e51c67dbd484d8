import type { RunningService } from '@croft/runtime';

/** What a person wants to read when Croft is up. */
export interface Greeting {
  readonly version: string;
  readonly seconds: number;
  readonly running: readonly RunningService[];
  readonly dataFolder: string;
  readonly logFile: string | undefined;
  readonly administrator: { email: string; password: string } | undefined;
}

/** The text for standard output. */
export function greet(greeting: Greeting): string {
  const { version, seconds, running, dataFolder, logFile, administrator } = greeting;
  const addresses = running.map(({ name, address }) => `  ${name.padEnd(8)}${address}`);
  const credentials =
    administrator === undefined
      ? []
      : [
          '',
          'The administrator of auth, shown only this once:',
          `  name      ${administrator.email}`,
          `  password  ${administrator.password}`,
        ];
  return [
    `Croft ${version} is ready after ${seconds.toFixed(1)} s`,
    '',
    ...addresses,
    ...credentials,
    '',
    `Data is in ${dataFolder}, the log ${logFile === undefined ? 'on standard error' : `in ${logFile}`}. Ctrl-C stops Croft.`,
    'What next: "The first five minutes" in README.md.',
    '',
  ].join('\n');
}
