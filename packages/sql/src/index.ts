export { type Database, type DatabaseOptions, openDatabase, type Reader, type Tx } from './database.ts';
export { isDatabaseUnavailable, isUniqueViolation } from './errors.ts';
export { inBatches } from './in-batches.ts';
export { checkMigrations, migrate } from './migrate.ts';
export { type Deliver, type Outbox, type OutboxOptions, PermanentFailure, startOutbox } from './outbox.ts';
export {
  countOutbox,
  enqueue,
  enqueueAll,
  enqueued,
  finish,
  finishAll,
  type OutboxRow,
} from './outbox-rows.ts';
export { findMark, insertMark } from './schema-mark.ts';
export { type Fragment, fragment, quoteIdentifier } from './statement.ts';
