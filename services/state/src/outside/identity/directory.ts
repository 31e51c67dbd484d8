import { readFile } from 'node:fs/promises';
import { directorySilent } from '../../failures.ts';
import type { RunProgram } from '../programs.ts';

const LOOKUP_MS = 5000;
/** How long an answer is remembered; so long a change of a group may take to count. */
const REMEMBER_MS = 5000;
const MAX_REMEMBERED = 1000;
/** Programs at once. */
const MAX_RUNNING = 8;
/** Questions that wait for one of them; more are refused. */
const MAX_WAITING = 256;
/** How `getent` says that there is no such key. */
const NOT_FOUND = 'getent ended with 2';
const NOT_INSTALLED = 'the program getent is not installed';

/** The fields of an entry; undefined when there is none. */
type Entry = readonly string[] | undefined;

/**
 * What the system knows of users and groups: what `getent` says, which knows directories too, and without it what the file
 * says. A question that is asked or was answered just now makes no further program, so that refused calls cost little.
 */
export class Directory {
  readonly #run: RunProgram;
  readonly #answers = new Map<string, Promise<Entry>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(run: RunProgram) {
    this.#run = run;
  }

  /** An entry by its name or number. @throws UNAVAILABLE when the directory does not answer */
  find(database: 'passwd' | 'group', key: string): Promise<Entry> {
    if (!/^[\w.][\w.@$-]{0,255}$/.test(key)) return Promise.resolve(undefined);
    const question = `${database} ${key}`;
    const known = this.#answers.get(question);
    if (known !== undefined) return known;
    const [oldest] = this.#answers.keys();
    if (this.#answers.size >= MAX_REMEMBERED && oldest !== undefined) this.#answers.delete(oldest);
    const answer = this.#inTurn(() => this.#ask(database, key));
    this.#answers.set(question, answer);
    const forget = () => {
      if (this.#answers.get(question) === answer) this.#answers.delete(question);
    };
    // A failure is not remembered: the next one may have more luck.
    answer.then(() => setTimeout(forget, REMEMBER_MS).unref(), forget);
    return answer;
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= MAX_RUNNING) {
      if (this.#waiting.length >= MAX_WAITING) throw directorySilent('too many ask at once');
      await new Promise<void>((go) => this.#waiting.push(go));
    } else this.#running++;
    try {
      return await work();
    } finally {
      // Whoever waits takes this place over.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  async #ask(database: 'passwd' | 'group', key: string): Promise<Entry> {
    const { ok, stdout, why } = await this.#run('getent', ['--', database, key], { timeoutMs: LOOKUP_MS });
    if (!ok && why === NOT_FOUND) return undefined;
    if (!ok && why !== NOT_INSTALLED) throw directorySilent(why);
    const lines = ok ? stdout : await readFile(`/etc/${database}`, 'utf8').catch(() => '');
    return lines
      .split('\n')
      .map((line) => line.split(':'))
      .find((fields) => fields[0] === key || fields[2] === key);
  }
}
