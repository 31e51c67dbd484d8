import { layer } from './layer.ts';
import { layersOf, merge } from './merge.ts';
import { build, parse } from './parse.ts';
import type { Endpoint, EndpointOptions, MergedOptions } from './types.ts';
import { version } from './version.ts';

function endpointOver(options: MergedOptions, isWhole?: boolean): Endpoint {
  const DEFAULTS = layer(options, undefined, true) as MergedOptions;
  const mergeWhole = (route?: unknown, options?: unknown) => merge(DEFAULTS, layersOf(route, options), true);
  const endpoint = (route: unknown, options?: unknown) => {
    const layers = layersOf(route, options);
    const merged = merge(DEFAULTS, layers, isWhole);
    return build(merged, merged.headers, isWhole ? merged : layers[1]);
  };
  return Object.assign(endpoint, {
    DEFAULTS,
    defaults: (options: EndpointOptions) => endpointOver(mergeWhole(options), true),
    merge: mergeWhole,
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
