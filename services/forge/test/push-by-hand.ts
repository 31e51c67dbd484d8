import { createHash } from 'node:crypto';
import { FLUSH, packetLine } from '../src/rules/git/push-request.ts';
import type { Person, Scene } from './forge.ts';

/** The value of a ref that does not exist. */
export const NONE = '0'.repeat(40);

const EMPTY_PACK = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');

/**
 * A push as no client of git may send it, of what is there already.
 * @param commands old id, new id and name of a ref each
 * @returns what the forge says, a report in the lines of git's protocol if it is one
 */
export async function pushByHand(
  scene: Pick<Scene, 'address'>,
  person: Person,
  repository: string,
  commands: readonly string[],
  capabilities = 'report-status delete-refs',
): Promise<string> {
  const brings = commands.some((command) => command.slice(41, 81) !== NONE);
  const pack = brings ? [EMPTY_PACK, createHash('sha1').update(EMPTY_PACK).digest()] : [];
  const lines = commands.map((line, index) => packetLine(index === 0 ? `${line}\0${capabilities}` : line));
  const answer = await fetch(`${scene.address}/${repository}.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${person.token}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
    body: Buffer.concat([...lines, FLUSH, ...pack]),
  });
  return await answer.text();
}
