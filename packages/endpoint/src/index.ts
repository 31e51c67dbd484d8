export { endpoint } from './endpoint.ts';
export { EndpointError } from './error.ts';
export { expand } from './expand.ts';
export type { RouteParameters } from './route-types.ts';
export { toFetch } from './to-fetch.ts';
export type * from './types.ts';
