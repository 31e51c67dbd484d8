import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { badCertificates } from '../../failures.ts';
import type { StateSettings } from '../../settings.ts';

/** What TLS is spoken with. */
interface TlsContent {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** Whose client certificates count; undefined: nobody is asked for one. */
  readonly ca: Buffer | undefined;
}

/** Certificate, key and authority from their files, and again from there when they were renewed. */
export class TlsFiles {
  readonly #settings: StateSettings;
  #content: TlsContent;
  #renewed: ((content: TlsContent) => void) | undefined;

  private constructor(settings: StateSettings, content: TlsContent) {
    this.#settings = settings;
    this.#content = content;
  }

  /** @throws INVALID_ARGUMENT naming the file that cannot be used */
  static async open(settings: StateSettings): Promise<TlsFiles> {
    return new TlsFiles(settings, await read(settings));
  }

  get content(): TlsContent {
    return this.#content;
  }

  /** `renewed` hears of each change; there is one listener. */
  onRenewed(renewed: (content: TlsContent) => void): void {
    this.#renewed = renewed;
  }

  /** Reads the files again; when they are wrong, everything stays as it was. @throws INVALID_ARGUMENT */
  async reload(): Promise<void> {
    this.#content = await read(this.#settings);
    this.#renewed?.(this.#content);
  }
}

async function read(settings: StateSettings): Promise<TlsContent> {
  const file = async (name: 'TLS_CERT' | 'TLS_KEY' | 'TLS_CLIENT_CA') => {
    const path = settings[name];
    if (path === undefined) return undefined;
    return await readFile(path).catch((error: Error) => {
      throw badCertificates(`STATESVC_${name}: ${error.message}`);
    });
  };
  const [cert, key, ca] = await Promise.all([file('TLS_CERT'), file('TLS_KEY'), file('TLS_CLIENT_CA')]);
  if (cert === undefined || key === undefined) {
    throw badCertificates(
      'STATESVC_LISTEN needs STATESVC_TLS_CERT and STATESVC_TLS_KEY: what is not encrypted is not served',
    );
  }
  check({ cert, key, ca });
  return { cert, key, ca };
}

function check(content: TlsContent): void {
  try {
    createSecureContext(content);
  } catch (error) {
    throw badCertificates(`certificate and key cannot be used together: ${(error as Error).message}`);
  }
}
