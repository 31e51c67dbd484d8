import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Paths of a certificate and its key. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/**
 * Makes a certificate in a folder, signed by an authority or by itself.
 * @param subject as openssl writes it, such as `/CN=backup`
 */
export function makeCertificate(
  folder: string,
  file: string,
  subject: string,
  { authority, names, days = 2 }: { authority?: Pair; names?: string; days?: number } = {},
): Pair {
  const pair = { cert: join(folder, `${file}.crt`), key: join(folder, `${file}.key`) };
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -utf8'.split(' ');
  const wanted = ['-subj', subject, '-days', String(days), '-keyout', pair.key, '-out', pair.cert];
  if (names !== undefined) wanted.push('-addext', `subjectAltName=${names}`);
  if (authority !== undefined) {
    wanted.push('-addext', 'basicConstraints=critical,CA:FALSE');
    wanted.push('-CA', authority.cert, '-CAkey', authority.key);
  }
  execFileSync('openssl', [...request, ...wanted], { stdio: 'ignore' });
  return pair;
}
