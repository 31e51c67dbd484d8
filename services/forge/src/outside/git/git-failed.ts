import type { Exit } from './broker.ts';

/** A command of git ended otherwise than well. */
export class GitFailed extends Error {
  override readonly name = 'GitFailed';
  readonly exit: Exit;

  constructor(repositoryId: number, args: readonly string[], exit: Exit) {
    const reason = exit.stderr.trim() || `it ended with ${exit.code}`;
    super(`git ${args[0]} of repository ${repositoryId} failed: ${reason}`);
    this.exit = exit;
  }

  /**
   * Whether that was for objects that are missing or damaged, where a second try would end in the same way; not for want of
   * something of the machine.
   */
  get isForDamage(): boolean {
    return this.exit.code === 128 && NAMES_DAMAGE.test(this.exit.stderr);
  }
}

/** As git says it in the language we have it speak. */
const NAMES_DAMAGE = new RegExp(
  [
    'fatal: (bad (object|revision)|not a valid commit name|not a tree object|missing object|unable to stream) ?',
    'fatal: unable to read ([a-z]+ )*\\(?[0-9a-f]{40}',
    'fatal: (loose|packed) object .* is corrupt',
    'fatal: git cat-file .*: bad file',
    'fatal: parse_object_buffer failed',
    'error: could not read [0-9a-f]{40}',
  ].join('|'),
  'i',
);
