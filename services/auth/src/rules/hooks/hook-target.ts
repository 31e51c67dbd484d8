/** Where a hook is: an endpoint, or a function of the service's own database. */
export type HookTarget = { url: string } | { schema: string; name: string };

/** Hosts that are this machine, the only ones that may be asked without TLS. */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]', 'host.docker.internal']);
/** Names that mean the same with and without quotes but for their case, so that none can carry anything else. */
const NAME = /^[a-z_][a-z0-9_]{0,62}$/i;

/**
 * Reads the address of a hook.
 * @throws Error that says what was expected
 */
export function readHookTarget(uri: string): HookTarget {
  const url = URL.parse(uri);
  if (url?.protocol === 'pg-functions:') return readFunction(uri);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error('must begin with https://, http:// or pg-functions://');
  if (url.protocol === 'http:' && !LOOPBACK.has(url.hostname))
    throw new Error(
      'takes http only for localhost, 127.0.0.1, [::1] and host.docker.internal, other hosts need https',
    );
  if (url.username !== '' || url.password !== '')
    throw new Error('must not carry credentials: hooks are signed, and addresses are logged');
  return { url: uri };
}

/** `pg-functions://<database>/<schema>/<function>`; the first is ours, whatever it is called. */
function readFunction(uri: string): HookTarget {
  const [, database = '', schema = '', name = ''] =
    /^pg-functions:\/\/([^/]*)\/([^/]*)\/([^/]*)$/i.exec(uri) ?? [];
  if (![database, schema, name].every((part) => NAME.test(part)))
    throw new Error(
      'must be pg-functions://<database>/<schema>/<function>, each of letters, digits and underscores, at most 63',
    );
  return { schema, name };
}
