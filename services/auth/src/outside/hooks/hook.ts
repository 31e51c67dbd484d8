import type { HookAnswer } from '../../rules/hooks/hook-answer.ts';
import type { HookName } from '../../rules/hooks/hook-names.ts';

/** Who is behind a question to a hook, and what the question is known by. */
export interface Asking {
  /** Address of the client, where there is one. */
  ip: string | null;
  /** A UUID that stays the same however often it is asked; without one every question has its own. */
  id?: string | undefined;
}

/**
 * Asks a hook and gives back what it says besides a refusal.
 * @throws RefusedByHook, or the Failure that says why there is no answer
 */
export type Hook = (input: Readonly<Record<string, unknown>>, asking: Asking) => Promise<HookAnswer>;

/** The hooks that are on, and the end of their connections. */
export type Hooks = Readonly<Partial<Record<HookName, Hook>>> & { close(): Promise<void> };

/**
 * Brings a question to a hook, however it is spoken to.
 * @returns what it answered, undefined when that is nothing
 */
export type Transport = (question: object, id: string) => Promise<unknown>;
