import { unacceptable } from '../../failures.ts';

const MAX_WEBSITE = 1024;
/** What browsers leave out of an address: at its beginning, and anywhere. */
const SKIPPED = /^[\0- ]+|[\t\n\r]/g;

/**
 * Refuses a website of a repository that does something else than lead to a page when it is followed as a link; with or
 * without a scheme, as in the reference. A name with a dot in front of a colon is a host with a port.
 * @throws 422
 */
export function checkWebsite(text: string): void {
  if (text.length > MAX_WEBSITE) throw unacceptable(`[Website]: MaxSize(${MAX_WEBSITE})`);
  const scheme = /^([a-z][a-z0-9+-]*):/i.exec(text.replaceAll(SKIPPED, ''))?.[1];
  if (scheme !== undefined && !/^https?$/i.test(scheme)) throw unacceptable('[Website]: ValidUrl');
}
