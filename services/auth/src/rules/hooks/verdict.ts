import { outsideWords } from '../outside-words.ts';
import type { HookAnswer } from './hook-answer.ts';

/** A rejection of an attempt to show who somebody is. */
export interface Rejection {
  /** For the person. */
  message: string;
  /** Whether the user is signed out, where that is up to the hook. */
  logsOut: boolean;
}

/** What a hook decided about an attempt: undefined lets it be what it is. */
export function verdictIn(answer: HookAnswer, defaultMessage: string): Rejection | undefined {
  if (answer['decision'] !== 'reject') return undefined;
  const message = answer['message'];
  return {
    message: typeof message === 'string' && message !== '' ? outsideWords(message) : defaultMessage,
    logsOut: answer['should_logout_user'] === true,
  };
}
