import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const { PATH = '', TEST_EVERYTHING } = process.env;

/**
 * Whether a program of the system is there; tests that need it are skipped without.
 * @param from the package of Debian that has it
 * @throws where everything is to be tested, as in CI
 */
export function needs(program: string, from: string): boolean {
  const folders = [...PATH.split(delimiter), '/usr/sbin', '/sbin'];
  const found = folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  if (found) return true;
  const what = `${program} is missing: apt install ${from}`;
  if (TEST_EVERYTHING === '1') throw new Error(what);
  process.stderr.write(`skipped: ${what}\n`);
  return false;
}
