import { type Api, giteaApi } from 'gitea-js';
import { type Operation, operationFinder } from './gitea-operations.ts';

/** Makes clients gitea-js and notes what their requests come to. */
export class NotedClients {
  readonly #address: () => string;
  readonly #operationOf: ReturnType<typeof operationFinder>;
  /** Names of operations that were answered. */
  readonly #answered = new Set<string>();
  /** The last refusal of an operation. */
  readonly #refusals = new Map<string, string>();

  constructor(address: () => string, operations: readonly Operation[]) {
    this.#address = address;
    this.#operationOf = operationFinder(operations);
  }

  client(token?: string): Api<unknown> {
    const customFetch: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const { pathname } = new URL(response.url);
      const operation = this.#operationOf(init?.method ?? 'GET', pathname.replace('/api/v1', ''));
      if (operation === undefined) throw new Error(`an operation of nobody: ${init?.method} ${pathname}`);
      if (response.ok) this.#answered.add(operation.name);
      else this.#refusals.set(operation.name, `${response.status} ${await response.clone().text()}`);
      return response;
    };
    return giteaApi(this.#address(), { customFetch, ...(token === undefined ? {} : { token }) });
  }

  /** The operations that were never answered well, and why not. */
  unanswered(operations: readonly Operation[]): string[] {
    return operations
      .filter(({ name }) => !this.#answered.has(name))
      .map(
        ({ name, method, path }) =>
          `${name} (${method} ${path}): ${this.#refusals.get(name) ?? 'not called'}`,
      );
  }
}

/** The status of a request that is refused, which the client throws. */
export async function refusal(request: Promise<unknown>): Promise<number> {
  try {
    await request;
  } catch (answer) {
    if (answer instanceof Response) return answer.status;
    throw answer;
  }
  throw new Error('was not refused');
}

/** What an answer must have. */
export function sure<T>(value: T | undefined | null): T {
  if (value === undefined || value === null) throw new Error('the answer lacks something');
  return value;
}
