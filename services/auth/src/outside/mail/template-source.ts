import { open } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { OutgoingHttp } from '@croft/http/outgoing';

/** Where the settings say that a template is. */
export interface TemplateSource {
  /** Paths of the site, which answers many an unknown path with its own page. */
  isGuess: boolean;
  /** @throws Error that says why there is none */
  read(limits: { maxBytes: number; timeoutMs: number }): Promise<string>;
}

/**
 * A setting's text as a source: an http(s) URL, a `file://` URL, or a path. A path is the file of that name if there
 * is one; else it counts against the site's URL, as the contract's server has it. Only the operator can write one.
 */
export function templateSource(setting: string, siteUrl: string, http: OutgoingHttp): TemplateSource {
  if (/^https?:\/\//i.test(setting)) {
    return { isGuess: false, read: (limits) => readUrl(http, setting, limits) };
  }
  if (/^file:\/\//i.test(setting)) {
    return { isGuess: false, read: ({ maxBytes }) => readTemplateFile(fileURLToPath(setting), maxBytes) };
  }
  const url = `${siteUrl.replace(/\/+$/, '')}/${setting.replace(/^\/+/, '')}`;
  return {
    isGuess: true,
    async read(limits) {
      if (!setting.startsWith('/')) return await readUrl(http, url, limits);
      try {
        return await readTemplateFile(setting, limits.maxBytes);
      } catch (error) {
        if (!['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
        return await readUrl(http, url, limits);
      }
    },
  };
}

async function readUrl(
  http: OutgoingHttp,
  url: string,
  limits: { maxBytes: number; timeoutMs: number },
): Promise<string> {
  const { status, text } = await http(url, { headers: { accept: 'text/html, text/plain, */*' }, ...limits });
  if (status !== 200) throw new Error(`it was answered with status ${status}`);
  return text;
}

async function readTemplateFile(path: string, maxBytes: number): Promise<string> {
  await using file = await open(path, 'r');
  const found = await file.stat();
  if (!found.isFile()) throw new Error('it is not a file');
  if (found.size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
  return new TextDecoder().decode(await file.readFile());
}
