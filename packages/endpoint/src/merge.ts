import { cached } from './cache.ts';
import { addHeaders } from './headers.ts';
import { layer } from './layer.ts';
import { isParameter, isSafe } from './options.ts';
import type { EndpointOptions, HeaderInput, MediaType, MergedOptions } from './types.ts';

// `METHOD URL` or a URL alone. A URL may have spaces in it, so the first word counts only if it can be a method.
const readRoute = cached((route): EndpointOptions => {
  const [, method, url] = /^([a-z-]+)\s+(.+)/is.exec(route.trim()) ?? [];
  return method ? { method, url } : { url: route.trim() };
});

/** Lays a call over frozen defaults, all of it or only the settings; `undefined` is no value, no input is written to. */
export function merge(
  defaults: MergedOptions,
  route: unknown,
  options: unknown,
  isWhole: boolean,
): MergedOptions {
  const merged: MergedOptions = { ...defaults, headers: { ...defaults.headers } };
  const lay = (given: Readonly<Record<string, unknown>>) => {
    for (const key of Object.keys(given)) {
      const value = given[key];
      if (value === undefined) continue;
      if (key === 'headers') addHeaders(merged.headers, (value ?? {}) as HeaderInput);
      else if (key === 'mediaType')
        merged.mediaType = layerMediaType(defaults.mediaType, (value ?? {}) as MediaType);
      else if ((isWhole || !isParameter(key)) && isSafe(key)) {
        merged[key] = Object.hasOwn(defaults, key) ? layer(defaults[key], value) : value;
      }
    }
  };
  if (typeof route === 'string') lay(readRoute(route));
  const given = typeof route === 'string' ? options : route;
  if (given) lay(given as EndpointOptions);
  // What the defaults hold stays theirs.
  if (isWhole) {
    for (const key of Object.keys(defaults))
      if (merged[key] === defaults[key]) merged[key] = layer(defaults[key]);
  }
  return merged;
}

// Previews add up, without the suffix under which some know them.
function layerMediaType(below: MediaType, above: MediaType): MediaType {
  const mediaType = layer(below, above) as MediaType;
  const previews = [...(below.previews ?? []), ...(above.previews ?? [])];
  if (!previews.length) return mediaType;
  return { ...mediaType, previews: [...new Set(previews.map((name) => name.replace('-preview', '')))] };
}
