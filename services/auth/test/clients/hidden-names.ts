import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Names the library's declarations call private or protected: at run time they look like any other. */
export function hiddenNames(): string[] {
  const entry = createRequire(import.meta.url).resolve('@supabase/auth-js');
  const names = new Set<string>(['constructor']);
  for (const declared of ['GoTrueClient', 'GoTrueAdminApi', 'lib/webauthn']) {
    const text = readFileSync(entry.replace(/dist[\\/]main.*$/, `dist/module/${declared}.d.ts`), 'utf8');
    for (const [, name = ''] of text.matchAll(/^\s+(?:private|protected) (?:static )?(?:[gs]et )?(\w+)/gm)) {
      names.add(name);
    }
  }
  return [...names];
}
