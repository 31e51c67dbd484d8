import type { ClientConfig } from 'pg';

/** How long a connection may take to be made. */
const CONNECT_MS = 10_000;

/**
 * How to connect to a database. The driver lets an address overrule everything else, so its `application_name`, by which a running
 * service is known, is left out, and its `options` stand apart for whoever has more of them.
 * @param purpose what the connection is for, besides the schema
 */
export function connectionTo(url: string, schema: string, purpose = '') {
  const address = URL.parse(url);
  const options = address?.searchParams.get('options');
  for (const name of ['application_name', 'options']) address?.searchParams.delete(name);
  return {
    connectionString: address?.href ?? url,
    application_name: ['croft', schema, purpose].filter((word) => word !== '').join(' '),
    connectionTimeoutMillis: CONNECT_MS,
    // Without it nobody would notice that a server is gone while nothing is sent.
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    ...(options ? { options } : {}),
  } satisfies ClientConfig;
}
