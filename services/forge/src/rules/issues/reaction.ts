import { forbidden } from '../../failures.ts';

/** What people may say without words. */
export const REACTIONS = ['+1', '-1', 'laugh', 'hooray', 'confused', 'heart', 'rocket', 'eyes'] as const;

/** @throws 403 for anything else, as the reference does */
export function checkReaction(content: string): string {
  if (!(REACTIONS as readonly string[]).includes(content)) {
    throw forbidden(`'${content.slice(0, 50)}' is not an allowed reaction`);
  }
  return content;
}
