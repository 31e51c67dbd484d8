import { checkTypedName } from './state-name.ts';

/**
 * The name of a state that another manager saved: the one it has there, else what tells it apart from others here.
 * @param id of the state
 * @param taken names that it cannot have
 */
export function adoptedName(given: string, id: string, taken: ReadonlySet<string>): string {
  const names = [given, `zsys_${given}`];
  return names.find((name) => isAllowed(name) && !taken.has(name)) ?? `zsys_${id.slice(0, 8)}`;
}

function isAllowed(name: string): boolean {
  try {
    checkTypedName(name);
    return true;
  } catch {
    return false;
  }
}
