import {
  type OutgoingAnswer,
  OutgoingFailed,
  type OutgoingHttp,
  type OutgoingRequest,
} from '@croft/http/outgoing';
import { ProviderRefused, type Step } from './provider.ts';

// Answers of providers are somebody else's text: every member is looked at before it is believed.

/** A JSON object whose members can be anything. */
export type Answer = Readonly<Record<string, unknown>>;

/** More than any profile; a list of addresses is the longest answer there is. */
const MAX_BYTES = 256 * 1024;

/**
 * Asks a provider and returns its JSON, an object or a list.
 * @throws ProviderRefused when there is no answer, its status is no success, or it is no JSON
 */
export async function ask(
  http: OutgoingHttp,
  step: Step,
  url: string,
  request: OutgoingRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const answer = await request_(http, step, url, request, signal);
  const body = answer.json();
  if (typeof body !== 'object' || body === null) throw new ProviderRefused(step, 'the answer is no JSON');
  return body;
}

/** Likewise for answers that are text: OAuth 1.0a speaks in forms. */
export async function askText(
  http: OutgoingHttp,
  step: Step,
  url: string,
  request: OutgoingRequest,
  signal: AbortSignal,
): Promise<string> {
  return (await request_(http, step, url, request, signal)).text;
}

async function request_(
  http: OutgoingHttp,
  step: Step,
  url: string,
  request: OutgoingRequest,
  signal: AbortSignal,
): Promise<OutgoingAnswer> {
  let answer: OutgoingAnswer;
  try {
    answer = await http(url, { maxBytes: MAX_BYTES, ...request }, signal);
  } catch (error) {
    if (error instanceof OutgoingFailed) throw new ProviderRefused(step, error.message, error);
    if (signal.aborted) throw new ProviderRefused(step, 'the provider did not answer in time', error);
    throw error;
  }
  if (answer.status < 200 || answer.status > 299) {
    throw new ProviderRefused(step, `the provider answered ${answer.status}`);
  }
  return answer;
}

/** The object itself, or an empty one in place of anything else. */
export function objectOf(value: unknown): Answer {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Answer) : {};
}

/** The objects of a list. */
export function objectsOf(value: unknown): Answer[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

/** A text, or the empty one in place of anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** As part of a path, whatever characters it has. */
export function pathPart(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** As many as of an id_token; the browser carries it to the application in an address. */
const MAX_TOKEN_CHARACTERS = 32 * 1024;

/**
 * A token for use at the provider, or the empty text when there is none. One with a line end would be a header of its own.
 * @throws ProviderRefused for what is too long for an address, or fits into no header
 */
export function tokenOf(value: unknown, step: Step): string {
  const token = textOf(value);
  if (token.length > MAX_TOKEN_CHARACTERS || !/^[\x21-\x7e]*$/.test(token)) {
    throw new ProviderRefused(step, 'a token is too long or has characters that no token has');
  }
  return token;
}

/** A flag; some providers send it as text or number. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 1 || value === '1' || value === 'true';
}

/**
 * The id of a person at the provider.
 * @throws ProviderRefused when there is none: without one nobody can be recognised
 */
export function subjectOf(value: unknown): string {
  const subject = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : textOf(value);
  if (subject === '' || subject.length > 255 || /[\0-\x1f\x7f]/.test(subject) || !subject.isWellFormed()) {
    throw new ProviderRefused('profile', 'the profile has no usable id');
  }
  return subject;
}
