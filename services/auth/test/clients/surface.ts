import { GoTrueClient } from '@supabase/auth-js';
import { createClient } from '@supabase/supabase-js';

// What the library offers, read from the library: a method that comes with its next version is one without a test.

/** Every public method of a client with its path, such as `admin.mfa.listFactors`; which are not public, `hiddenNames` says. */
function methodsOf(client: GoTrueClient, hidden: readonly string[]): string[] {
  const visit = (owner: object, path: string): string[] =>
    namesOf(owner).flatMap((name) => {
      if (hidden.includes(name) || name.startsWith('_')) return [];
      const member = Reflect.get(owner, name) as unknown;
      if (typeof member === 'function') return [path + name];
      return typeof member === 'object' && member !== null ? visit(member, `${path}${name}.`) : [];
    });
  return visit(client, '').sort();
}

/** Notes which of its methods are called, also by the library itself. */
export function noting(client: GoTrueClient, hidden: readonly string[], called: Set<string>): GoTrueClient {
  for (const path of methodsOf(client, hidden)) {
    const steps = path.split('.');
    const name = steps.pop() ?? '';
    const owner = steps.reduce<object>((at, step) => Reflect.get(at, step) as object, client);
    const method = Reflect.get(owner, name) as (...all: unknown[]) => unknown;
    Reflect.set(owner, name, function (this: object, ...all: unknown[]) {
      called.add(path);
      return method.apply(this, all);
    });
  }
  return client;
}

function namesOf(owner: object): string[] {
  const names = new Set<string>();
  for (
    let at: object | null = owner;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  ) {
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  }
  return [...names];
}

/** The methods of the client of each library, by looking at one of no server. */
export function surfaces(hidden: readonly string[]): Record<'auth-js' | 'supabase-js', string[]> {
  const [url, options] = ['http://127.0.0.1:1', { autoRefreshToken: false, skipAutoInitialize: true }];
  return {
    'auth-js': methodsOf(new GoTrueClient({ url, ...options }), hidden),
    'supabase-js': methodsOf(createClient(url, 'key', { auth: options }).auth, hidden),
  };
}
