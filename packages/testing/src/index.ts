import { guardTransactions } from '@croft/runtime';

export { bundledProgram } from './bundled-program.ts';
export { type FixedClock, fixedClock } from './clock.ts';
export { type SchemaOf, type TestDatabase, testDatabase } from './database.ts';
export { type JournaledDisk, mountJournaledDisk, mountSmallDisk } from './disks.ts';
export { diskFolder, git, gitEnvironment, temporaryFolder } from './git.ts';
export { capturedMails, type Mail, parseMail } from './mail.ts';
export { canMount, withOwnMounts, works } from './own-mounts.ts';
export { findChromium, findProgram, hasProgram, skipWithout } from './programs.ts';
export {
  type ReceivedMail,
  type SmtpPort,
  type SmtpSink,
  type SmtpSinkOptions,
  smtpPort,
  smtpSink,
} from './smtp-sink.ts';
export { startHere } from './start-elsewhere.ts';
export { runProgramSync } from './waited-programs.ts';

// Every test that uses this package runs with the guard: whatever leaves the process inside a transaction fails.
guardTransactions();
