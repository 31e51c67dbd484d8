import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../daemon.ts';

/** Where the files lie that are installed. */
export const packaging = join(import.meta.dirname, '../../packaging');
/** Runs a program and gives what it says. */
export const run = promisify(execFile);

/** Folders of every package manager and of GRUB: what is there is served. */
const MANAGERS = [
  '/etc/apt/apt.conf.d',
  '/etc/dnf/libdnf5-plugins/actions.d',
  '/etc/dnf/plugins/pre-transaction-actions.d',
  '/etc/dnf/plugins/post-transaction-actions.d',
  '/usr/share/libalpm/hooks',
  '/etc/grub.d',
];

/** A root that everything was installed into. */
export function installInto(managers = MANAGERS) {
  const root = temporaryFolder();
  for (const folder of managers) mkdirSync(join(root, folder), { recursive: true });
  // The units name the client as it is in the fake root, so that they can be checked there.
  const client = join(root, 'croft');
  const install = (...words: string[]) =>
    execFileSync('sh', [join(packaging, 'install.sh'), ...words], {
      env: { DESTDIR: root, CLIENT: '/croft', PATH: process.env['PATH'] },
      stdio: 'pipe',
    });
  install();
  return { root, client, install, hook: join(root, 'usr/local/lib/croft/package-hook') };
}
