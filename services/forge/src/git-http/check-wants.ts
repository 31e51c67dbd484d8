import { unacceptable } from '../failures.ts';
import type { Git } from '../outside/git/git.ts';
import { listTips } from '../outside/git/reading/list-refs.ts';
import { areReached, typesOf } from '../outside/git/reading/resolve.ts';
import { planWants, readWants, refusedWant } from '../rules/git/fetch-request.ts';

/** A client asks for an object that it may not have: no ref leads there, or there is none. */
export class WantRefused extends Error {
  override readonly name = 'WantRefused';
  /** What git would answer. */
  readonly answer: Buffer;

  constructor(id: string) {
    super(`${id} was asked for, where no ref leads`);
    this.answer = refusedWant(id);
  }
}

/**
 * Looks at what a fetch in version 2 of the protocol asks for, as git does by itself in older versions only.
 * @throws WantRefused; 422 when the request is cut off
 */
export async function checkWants(git: Git, repositoryId: number, body: Buffer): Promise<void> {
  const wants = readWants(body);
  if (wants === undefined)
    throw unacceptable('[]: the request is no list of lines, or asks for more than 200,000 objects');
  // Refs are listed with the same request.
  if (wants.length === 0) return;
  const tips = await listTips(git, repositoryId);
  const others = wants.filter((id) => !tips.has(id));
  if (others.length === 0) return;
  // Thousands, when a partial clone is checked out: one process each, which others do not wait behind.
  const types = await typesOf(git, repositoryId, others);
  const missing = others.find((id) => !types.has(id));
  if (missing !== undefined) throw new WantRefused(missing);
  const { refused, lookFor } = planWants(
    [...types].map(([id, type]) => ({ id, type })),
    tips,
  );
  if (refused !== undefined) throw new WantRefused(refused);
  const [first] = lookFor;
  if (first !== undefined && !(await areReached(git, repositoryId, lookFor))) throw new WantRefused(first);
}
