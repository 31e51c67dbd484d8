import { EndpointError } from './error.ts';
import { isSafe } from './options.ts';
import { isPlain } from './value.ts';

type Node = Record<string, unknown>;

/**
 * A copy of `below` with `above` laid over it: plain objects merge, everything else replaces, `undefined` is no value.
 * No object and no list of `below` is shared, and on request the copy is frozen. A cycle is refused by its depth.
 */
export function layer(below: unknown, above?: unknown, isFrozen?: boolean, depth = 0): unknown {
  const isMap = isPlain(below);
  if (above !== undefined && !(isMap && isPlain(above))) return above;
  if (!isMap && !Array.isArray(below)) return below;
  if (depth > 99) throw new EndpointError('too deep', 'defaults');
  const copy = (isMap ? {} : []) as Node;
  for (const key of Object.keys(below)) {
    if (isSafe(key)) copy[key] = layer((below as Node)[key], undefined, isFrozen, depth + 1);
  }
  for (const key of Object.keys(above ?? {})) {
    if (isSafe(key)) copy[key] = layer(copy[key], (above as Node)[key], isFrozen, depth + 1);
  }
  return isFrozen ? Object.freeze(copy) : copy;
}
