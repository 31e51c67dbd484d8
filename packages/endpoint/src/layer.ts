import { EndpointError } from './error.ts';
import { isSafe } from './options.ts';
import { isPlain } from './value.ts';

type Node = Record<string, unknown>;

function own(node: object, key: string): unknown {
  return Object.hasOwn(node, key) ? (node as Node)[key] : undefined;
}

/**
 * A copy of `below` with `above` laid over it: plain objects merge, everything else replaces, `undefined` is no value.
 * No object and no list of `below` is shared, and on request the copy is frozen. A cycle is refused by its depth.
 */
export function layer(below: unknown, above?: unknown, isFrozen?: boolean, depth = 0): unknown {
  const isMap = typeof below === 'object' && isPlain(below);
  if (above !== undefined && !(isMap && isPlain(above))) return above;
  if (!isMap && !Array.isArray(below)) return below;
  if (depth > 99) throw new EndpointError('nested too deep', 'defaults');
  const copy = (isMap ? {} : []) as Node;
  // oxlint-disable-next-line typescript/no-misused-spread -- a list is never layered, so both are objects here
  for (const key of Object.keys(above ? { ...below, ...above } : below)) {
    const value = layer(own(below, key), own(above ?? {}, key), isFrozen, depth + 1);
    if (value !== undefined && isSafe(key)) copy[key] = value;
  }
  return isFrozen ? Object.freeze(copy) : copy;
}
