import type { Failure } from '@croft/failure';
import type { Clock, Log } from '@croft/runtime';
import type { Incoming } from './contents/incoming.ts';
import type { FruitlessRemovals } from './daemon/fruitless-removals.ts';
import type { Happenings } from './daemon/happenings.ts';
import type { Metrics } from './daemon/metrics.ts';
import type { PolicyFile } from './daemon/policy-file.ts';
import type { RecentErrors } from './daemon/recent-errors.ts';
import type { StorageHealth } from './daemon/storage-health.ts';
import type { Tracing } from './daemon/tracing.ts';
import type { StateIndex } from './model/state-index.ts';
import type { Directory } from './outside/identity/directory.ts';
import type { LateAddresses } from './outside/late-addresses.ts';
import type { Storage } from './outside/storage/storage.ts';
import type { CommandLine } from './rules/boot/command-line.ts';
import type { TlsFiles } from './server/doors/tls-files.ts';
import type { StateSettings } from './settings.ts';
import type { Turns } from './turns.ts';

/** The boot that the daemon runs in. */
export interface Boot {
  /** The kernel's id of it. */
  readonly id: string;
  readonly commandLine: CommandLine;
  /** The command line as it is. */
  readonly text: string;
  readonly settings: Pick<StateSettings, 'BOOT_LOADER' | 'BOOT_FOLDER' | 'ENTRIES_FOLDER' | 'SEARCH_PATH'>;
}

/** What operations work with. */
export interface Context {
  readonly version: string;
  /** As `performance.now()`: the clock of the machine may be set. */
  readonly startedMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly storage: Storage;
  readonly health: StorageHealth;
  readonly index: StateIndex;
  /** Writers, one at a time per machine. */
  readonly turns: Turns;
  /** Percent of each pool that a save leaves free. */
  readonly minFree: number;
  /** What removals for space came to. */
  readonly fruitless: FruitlessRemovals;
  readonly incoming: Incoming;
  readonly boot: Boot;
  readonly policy: PolicyFile;
  /** What the system knows of users and groups. */
  readonly directory: Directory;
  /** What TLS is spoken with, where it is. */
  readonly tls: TlsFiles | undefined;
  readonly errors: RecentErrors;
  readonly happenings: Happenings;
  readonly tracing: Tracing;
  /** Where they are wanted. */
  readonly metrics: Metrics | undefined;
  /** What the daemon shall listen on and cannot yet. */
  readonly late: LateAddresses;
  /** Asks whoever started the daemon to stop it. */
  readonly stop: () => void;
}

/** One call as an operation sees it. Lines go to the caller, before the result. */
export interface Call {
  readonly operation: string;
  readonly requestId: string;
  /** Whether the caller may do everything; asks the system, so not for every call. */
  readonly isAdministrator: () => Promise<boolean>;
  /** Aborted when the caller went away, the deadline passed, or the daemon ends it; the reason is a `Failure`. */
  readonly signal: AbortSignal;
  /** Ends the call with a reason, whatever it waits for. */
  readonly end: (reason: Failure) => void;
  readonly info: (line: string) => void;
  readonly warning: (line: string) => void;
  /** Only for callers that asked for it with the metadata `loglevel: debug`. */
  readonly debug: (line: string) => void;
  /** How far it is; only for callers that asked for it with the metadata `progress: yes`, so that nobody else pays for it. */
  readonly progress: ((line: string) => void) | undefined;
  /** The caller is a program, by the metadata `format: json`. */
  readonly wantsJson: boolean;
}
