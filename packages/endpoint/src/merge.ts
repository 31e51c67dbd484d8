import { cached } from './cache.ts';
import { addHeaders } from './headers.ts';
import { layer } from './layer.ts';
import { isSafe, isSetting } from './options.ts';
import type { EndpointOptions, HeaderInput, MediaType, MergedOptions } from './types.ts';

// `METHOD URL` or a URL alone. A URL may have spaces in it, so the first word counts only if it can be a method.
const readRoute = cached((route): EndpointOptions => {
  const [, method, url] = /^(?:([a-z-]+)\s+)?(.*)/is.exec(route.trim()) as RegExpExecArray;
  return { method, url };
});

/** What a call gives: the settings of its route and its options. */
export function layersOf(route: unknown, options: unknown): [EndpointOptions, EndpointOptions] {
  return typeof route === 'string' ? [readRoute(route), options ?? {}] : [{}, route ?? {}];
}

/** Lays a call over frozen defaults, all of it or only the settings; `undefined` is no value, no input is written to. */
export function merge(
  defaults: MergedOptions,
  layers: readonly EndpointOptions[],
  isWhole?: boolean,
): MergedOptions {
  const merged: MergedOptions = { ...defaults, headers: { ...defaults.headers } };
  for (const given of layers) {
    for (const key of Object.keys(given)) {
      const value = given[key];
      if (value === undefined || !isSafe(key) || !(isWhole || isSetting(key))) continue;
      if (key === 'headers') addHeaders(merged.headers, value as HeaderInput);
      else {
        const previews = value && key === 'mediaType' && merged.mediaType?.previews;
        merged[key] = layer(merged[key], value);
        // Previews add up, in an object of our own: an instance of a class is the caller's.
        if (previews)
          merged[key] = {
            ...(merged[key] as MediaType),
            previews: [...previews, ...((value as MediaType).previews ?? [])],
          };
      }
    }
  }
  // What the defaults hold stays theirs.
  if (isWhole)
    for (const key of Object.keys(defaults))
      if (merged[key] === defaults[key]) merged[key] = layer(merged[key]);
  return merged;
}
