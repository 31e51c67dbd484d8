import { unacceptable } from '../../failures.ts';

const MAX_NAME = 30;
const MAX_DESCRIPTION = 255;
/** Last parts of addresses of ours below an organization's teams. */
const RESERVED = new Set(['new', 'search', '.', '..']);

/**
 * Refuses names of teams that an address could not carry, and texts that are too long.
 * @throws 422
 */
export function checkTeamTexts({ name, description }: { name: string; description: string }): void {
  if (!/^[A-Za-z0-9_.-]+$/.test(name)) throw unacceptable('[Name]: AlphaDashDot');
  if (name.length > MAX_NAME) throw unacceptable(`[Name]: MaxSize(${MAX_NAME})`);
  if (RESERVED.has(name.toLowerCase())) throw unacceptable(`name is reserved [name: ${name}]`);
  if (description.length > MAX_DESCRIPTION) throw unacceptable(`[Description]: MaxSize(${MAX_DESCRIPTION})`);
}
