import type { KeyObject } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Failure } from '@croft/failure';
import { type OutgoingAnswer, OutgoingFailed, type OutgoingHttp } from '@croft/http/outgoing';
import type { Clock } from '@croft/runtime';
import * as failures from '../../failures/hooks.ts';
import { webhookHeaders } from '../../rules/hooks/webhook-signature.ts';
import type { Transport } from './hook.ts';

/** How long is waited for an endpoint, and how often it is tried. */
export interface HookTiming {
  /** For all attempts and the pauses between them. */
  totalMs: number;
  attempts: number;
  pauseMs: number;
}

/** Bytes of an answer. */
export const MAX_ANSWER_BYTES = 200 * 1024;

/** An endpoint that is asked. */
export interface HttpHook {
  url: string;
  keys: readonly KeyObject[];
  http: OutgoingHttp;
  clock: Clock;
  timing: HookTiming;
}

/** What came of one attempt: an answer, or a reason to try again and how long to wait for that. */
type Attempt = { answer: unknown } | { failure: Failure; pauseMs: number };

/** Asks an endpoint with signed requests (Standard Webhooks). Nothing it redirects to is asked. */
export function httpHook(hook: HttpHook): Transport {
  const { timing } = hook;
  return async (question, id) => {
    const body = JSON.stringify(question);
    const endsAt = performance.now() + timing.totalMs;
    for (let number = 1; ; number++) {
      const attempt = await ask(hook, id, body, endsAt);
      if ('answer' in attempt) return attempt.answer;
      const comesInTime = performance.now() + attempt.pauseMs < endsAt;
      if (number >= timing.attempts || !comesInTime) throw attempt.failure;
      await sleep(attempt.pauseMs);
    }
  };
}

async function ask(hook: HttpHook, id: string, body: string, endsAt: number): Promise<Attempt> {
  const { url, keys, http, clock, timing } = hook;
  const timestamp = Math.floor(clock.now().getTime() / 1000);
  const leftMs = Math.max(1, Math.ceil(endsAt - performance.now()));
  try {
    const answer = await http(url, {
      body: { type: 'application/json', text: body },
      headers: webhookHeaders(keys, { id, timestamp, body }),
      timeoutMs: leftMs,
      maxBytes: MAX_ANSWER_BYTES,
      followRedirects: false,
    });
    return read(answer, timing);
  } catch (error) {
    if (!(error instanceof OutgoingFailed)) throw error;
    if (error.reason === 'time-out') throw failures.hookTimedOut(timing.totalMs, error);
    if (error.reason === 'too-large') throw failures.hookAnswerTooLarge(MAX_ANSWER_BYTES, error);
    return { failure: failures.hookUnreachable(error), pauseMs: timing.pauseMs };
  }
}

function read(answer: OutgoingAnswer, timing: HookTiming): Attempt {
  const { status, headers } = answer;
  switch (status) {
    case 200:
    case 202:
    case 204:
      return { answer: readBody(answer) };
    case 429:
    case 503: {
      const retryAfter = headers.get('retry-after') ?? '';
      const failure = failures.hookUnavailable(`the hook answered ${status}`);
      if (retryAfter === '') throw failure;
      const pauseMs = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1000 : timing.pauseMs;
      return { failure, pauseMs };
    }
    default:
      throw failures.hookStatusUnexpected(status);
  }
}

function readBody(response: OutgoingAnswer): unknown {
  const { status, headers, text } = response;
  const type = headers.get('content-type') ?? '';
  if (status === 204 && type === '') return undefined;
  if (!/^application\/json *(;|$)/i.test(type))
    throw failures.hookAnswerIsNoJson(type === '' ? 'there is no content type' : type.slice(0, 200));
  if (status === 204 && text === '') return undefined;
  const answer = response.json();
  if (answer === undefined) throw failures.hookOutputUnusable('Error unmarshaling JSON output.');
  return answer;
}
