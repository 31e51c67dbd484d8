import pg from 'pg';

/** Whether the error is PostgreSQL's refusal of a duplicate, optionally of one constraint or unique index. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return (
    error instanceof pg.DatabaseError &&
    error.code === '23505' &&
    (constraint === undefined || error.constraint === constraint)
  );
}

const READ_ONLY = '25006';

/** Whether the server may change nothing, as one that only follows another. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === READ_ONLY;
}

/** SQLSTATE classes and errors of sockets and names that mean "not now" rather than "never". */
const UNAVAILABLE = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  // Where another server has become the primary, connections may have been made to the one before.
  READ_ONLY,
  '57P01',
  '57P02',
  '57P03',
  '53300',
]);

/** Only of these the codes above speak of the database: a missing file has one of them as well, and so has another server that hung up. */
const ofDriver = new WeakSet<Error>();

/** Notes that an error came from the driver, and returns it. */
export function fromDriver<Given>(error: Given): Given {
  if (error instanceof Error) ofDriver.add(error);
  return error;
}

/** Whether the database could not be reached, as opposed to having refused the statement. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error && ofDriver.has(error))) return false;
  const code = (error as { code?: string }).code ?? '';
  return (
    UNAVAILABLE.has(code) ||
    code.startsWith('08') ||
    /^(Connection terminated|Client (?:has encountered a connection error|was closed)|timeout exceeded when trying|timeout expired|Query read timeout)/.test(
      error.message,
    )
  );
}
