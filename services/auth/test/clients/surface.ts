import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { GoTrueClient } from '@supabase/auth-js';

// What the library offers, read from the library: a method that comes with its next version is one without a test.

/** Members that are objects with methods of their own, such as `admin.mfa`. */
const GROUPS = /^(admin|mfa|oauth|passkey|webauthn|recoveryCodes|customProviders)$/;

/** Names the declarations call private or protected: at run time they look like any other. */
function hiddenNames(): Set<string> {
  const entry = createRequire(import.meta.url).resolve('@supabase/auth-js');
  const names = new Set<string>(['constructor']);
  for (const declared of ['GoTrueClient', 'GoTrueAdminApi']) {
    const text = readFileSync(entry.replace(/dist[\\/]main.*$/, `dist/module/${declared}.d.ts`), 'utf8');
    for (const [, name = ''] of text.matchAll(/^\s+(?:private|protected) (?:static )?(?:[gs]et )?(\w+)/gm)) {
      names.add(name);
    }
  }
  return names;
}

/** Every public method of a client with its path, such as `admin.mfa.listFactors`. */
export function methodsOf(client: GoTrueClient): string[] {
  const hidden = hiddenNames();
  const visit = (owner: object, path: string): string[] =>
    namesOf(owner).flatMap((name) => {
      if (hidden.has(name) || name.startsWith('_')) return [];
      const member = Reflect.get(owner, name) as unknown;
      if (typeof member === 'function') return [path + name];
      const isGroup = GROUPS.test(name) && typeof member === 'object' && member !== null;
      return isGroup ? visit(member, `${path}${name}.`) : [];
    });
  return visit(client, '').sort();
}

/** Notes which of its methods are called, also by the library itself. */
export function noting(client: GoTrueClient, called: Set<string>): GoTrueClient {
  for (const path of methodsOf(client)) {
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

/** A client of nothing, to be looked at. */
export function idleClient(): GoTrueClient {
  return new GoTrueClient({ url: 'http://127.0.0.1:1', autoRefreshToken: false, skipAutoInitialize: true });
}
