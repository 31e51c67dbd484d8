import { layer } from './layer.ts';
import { merge } from './merge.ts';
import { isParameter } from './options.ts';
import { build, parse } from './parse.ts';
import type { Endpoint, EndpointOptions, MergedOptions } from './types.ts';
import { version } from './version.ts';

function endpointOver(options: MergedOptions): Endpoint {
  const DEFAULTS = layer(options, undefined, true) as MergedOptions;
  // Without parameters among the defaults, those of a call are read where they are.
  const isWhole = Object.keys(DEFAULTS).some((key) => isParameter(key) || key === 'request');
  const endpoint = (route: unknown, options?: unknown) => {
    const merged = merge(DEFAULTS, route, options, isWhole);
    const given = isWhole ? merged : typeof route === 'string' ? options : route;
    return build(merged, merged.headers, (given ?? {}) as EndpointOptions);
  };
  return Object.assign(endpoint, {
    DEFAULTS,
    defaults: (options: EndpointOptions) => endpointOver(merge(DEFAULTS, options, undefined, true)),
    merge: (route?: unknown, options?: unknown) => merge(DEFAULTS, route, options, true),
    parse,
  });
}

/** The builder over the defaults of a Croft server on this machine. */
export const endpoint = endpointOver({
  method: 'GET',
  baseUrl: 'http://127.0.0.1:3000/api/v1',
  headers: { accept: 'application/vnd.croft.v3+json', 'user-agent': `croft-endpoint/${version}` },
  mediaType: { format: '' },
});
