import { outsideWords } from '../outside-words.ts';

/** What a hook says. */
export type HookAnswer = Record<string, unknown>;

/** What a hook refuses something with; the message is for the person who asked. */
export interface HookRefusal {
  status: number;
  message: string;
}

/** Brings an answer into shape: nothing at all counts as consent, undefined is what is no object. */
export function readHookAnswer(value: unknown): HookAnswer | undefined {
  if (value === undefined || value === null) return {};
  return isObject(value) ? value : undefined;
}

/**
 * The refusal in an answer. As in the protocol's reference, one without a message is none; a status that is no error's
 * would let a refusal pass for success.
 */
export function refusalIn({ error }: HookAnswer): HookRefusal | undefined {
  if (!isObject(error)) return undefined;
  const { message, http_code: status } = error;
  if (typeof message !== 'string' || message === '') return undefined;
  const isError = Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599;
  return { status: isError ? Number(status) : 500, message: outsideWords(message) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
