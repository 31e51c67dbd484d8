export { type Clock, systemClock } from './clock.ts';
export { FolderInUse, lockFolder } from './folder-lock.ts';
export { randomToken } from './ids.ts';
export { createLog, type Log, type LogLevel, logLevels, silentLog } from './log.ts';
export { reasonOf } from './reason-of.ts';
export { type RunningService, StartError } from './service.ts';
export { assertInTime, type TimeLimit, timeLimit, withinTime } from './time-limit.ts';
export { assertOutsideTransaction, guardTransactions, insideTransaction } from './transaction-guard.ts';
