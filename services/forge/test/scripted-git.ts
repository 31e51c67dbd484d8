import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A program to run as git, which does something of its own first. */
export interface ScriptedGit {
  command: string;
  /** Of the files by which it and the test understand each other. */
  folder: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Makes one. @param first lines for a shell, whose arguments are those of git */
export async function scriptedGit(first: (folder: string) => string): Promise<ScriptedGit> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-scripted-git-'));
  const command = join(folder, 'git');
  await writeFile(command, `#!/bin/sh\n${first(folder)}\nexec git "$@"\n`);
  await chmod(command, 0o755);
  return { command, folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
