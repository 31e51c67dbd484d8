import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Mail, parseMail } from '@croft/testing';
import { expect } from 'vitest';
import { codeIn, readMail } from '../harness.ts';

/** A mail as its reader uses it. */
export interface Letter {
  link: URL;
  code: string;
  mail: Mail;
}

/** What the servers sent, to whom; each message is handed out once. */
export interface Post {
  /** The next mail to an address; waits for it. */
  mail(to: string): Promise<Letter>;
  /** The code of the next text message to a number. */
  sms(to: string): Promise<string>;
  /** How many messages to somebody nobody has looked at yet. */
  waiting(to: string): Promise<number>;
}

interface Message {
  name: string;
  to: string;
  raw: string;
}

/** Reads the folders in which captured messages arrive. */
export function watchPost(dataFolder: string): Post {
  const known = new Map<string, Message>();
  const taken = new Set<string>();

  async function look(folder: 'mail' | 'sms', ending: string): Promise<void> {
    const path = join(dataFolder, folder);
    await mkdir(path, { recursive: true });
    for (const name of (await readdir(path)).sort()) {
      if (!name.endsWith(ending) || name.startsWith('.') || known.has(name)) continue;
      const raw = await readFile(join(path, name), 'utf8');
      known.set(name, { name, to: /^To: \+?(.+?)\r?$/m.exec(raw)?.[1] ?? '', raw });
    }
  }
  async function untaken(to: string): Promise<Message[]> {
    await look('mail', '.eml');
    await look('sms', '.txt');
    const mine = [...known.values()].filter((one) => one.to.includes(to) && !taken.has(one.name));
    return mine.sort((a, b) => (a.name < b.name ? -1 : 1));
  }
  async function next(to: string): Promise<Message> {
    let first: Message | undefined;
    await expect.poll(async () => (first = (await untaken(to))[0]), { interval: 10 }).toBeDefined();
    if (first === undefined) throw new Error(`nothing was sent to ${to}`);
    taken.add(first.name);
    return first;
  }

  return {
    async mail(to) {
      const mail = parseMail((await next(to)).raw);
      return { link: linkIn(mail), code: codeIn(mail), mail };
    },
    sms: async (to) => /\d{6,10}/.exec((await next(to)).raw)?.[0] ?? '',
    waiting: async (to) => (await untaken(to)).length,
  };
}

/** Mails with a code alone have none. */
function linkIn(mail: Mail): URL {
  return /\/verify\?/.test(mail.text) ? readMail(mail).url : new URL('about:blank');
}
