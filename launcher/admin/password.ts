import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { randomToken, StartError } from '@croft/runtime';
import type { PasswordOptions } from './command.ts';

/** A password, and whether the person has to be told it because it was made here. */
export interface ChosenPassword {
  password: string;
  made: boolean;
}

/** Longer ones no service takes. */
const MAX_BYTES = 4096;

/**
 * A new password: from standard input, asked for on a terminal, or made.
 * @throws StartError when it cannot be had
 */
export async function choosePassword(options: PasswordOptions): Promise<ChosenPassword> {
  if (options.passwordStdin === true) return { password: await readLine(), made: false };
  if (options.generatePassword !== true && process.stdin.isTTY && process.stderr.isTTY) {
    const password = await ask('New password (empty: one is made): ');
    if (password !== '') {
      if ((await ask('The same again: ')) !== password) throw new StartError('The two passwords differ.');
      return { password, made: false };
    }
  }
  return { password: randomToken(15), made: true };
}

async function readLine(): Promise<string> {
  let text = '';
  process.stdin.setEncoding('utf8');
  for await (const chunk of process.stdin) {
    text += chunk;
    if (text.includes('\n') || text.length > MAX_BYTES) break;
  }
  const line = text.split('\n')[0]?.replace(/\r$/, '') ?? '';
  if (line === '') throw new StartError('There is no password on standard input.');
  return line;
}

/** On standard error, so that standard output holds results only; what is typed does not appear. */
async function ask(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  // Ctrl-C or Ctrl-D, of which the terminal itself does nothing while it is read letter by letter.
  const given = new AbortController();
  terminal.once('SIGINT', () => given.abort());
  terminal.once('close', () => given.abort());
  process.stderr.write(question);
  try {
    return await terminal.question('', { signal: given.signal });
  } catch (error) {
    throw new StartError('No password was given.', { cause: error });
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}
