import { packetLine } from './push-request.ts';

/** More than this nobody asks for at once who has seen what there is: a clone asks for what refs point to. */
const MAX_WANTS = 200_000;

/** What is known of an object that a client asks for by its id. */
export interface WantedObject {
  id: string;
  type: 'commit' | 'tree' | 'blob' | 'tag';
}

/**
 * The ids that a fetch in version 2 of the protocol asks for (gitprotocol-v2(5)), each once, in lower case. Version 2
 * serves every object whose id a client knows, also those that were removed; what it is asked for has to be looked at
 * before. As lenient as git, which takes lower and upper case and anything behind the id, in whatever order lines come.
 * @returns undefined for a body that is cut off or no list of lines, which git refuses too, or that asks for more than 200,000
 */
export function readWants(body: Buffer): string[] | undefined {
  const wants = new Set<string>();
  for (let at = 0; at < body.length; ) {
    const digits = body.toString('latin1', at, at + 4);
    if (!/^[0-9a-f]{4}$/i.test(digits)) return undefined;
    const length = Number.parseInt(digits, 16);
    // Flush, delimiter and end of an answer are nothing but their length.
    const end = at + Math.max(length, 4);
    if (length === 3 || end > body.length) return undefined;
    const id = /^want ([0-9a-f]{40})/i.exec(body.toString('latin1', at + 4, Math.min(end, at + 49)))?.[1];
    if (id !== undefined) wants.add(id.toLowerCase());
    if (wants.size > MAX_WANTS) return undefined;
    at = end;
  }
  return [...wants];
}

/**
 * Which of the objects a fetch asks for may be served. What refs point to always; other commits when a ref leads to
 * them, which has to be asked (`lookFor`); a tag is reached by its ref alone. Trees and blobs are what partial clones
 * fetch later: whoever knows their ids has seen the commit, and to find one takes a walk through all of the history.
 * @param tips what the refs point to that the client may see
 */
export function planWants(
  wanted: readonly WantedObject[],
  tips: ReadonlySet<string>,
): { refused: string | undefined; lookFor: string[] } {
  const others = wanted.filter(({ id }) => !tips.has(id));
  return {
    refused: others.find(({ type }) => type === 'tag')?.id,
    lookFor: others.filter(({ type }) => type === 'commit').map(({ id }) => id),
  };
}

/** What git says of an object it does not serve; also of one that does not exist, so that nobody learns which. */
export const refusedWant = (id: string): Buffer => packetLine(`ERR upload-pack: not our ref ${id}`);
