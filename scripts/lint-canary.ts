import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A file that breaks a rule, and a piece of the message it must earn. */
interface Offence {
  file: string;
  code: string;
  message: string;
}

const OFFENCES: readonly Offence[] = [
  {
    file: 'services/forge/src/issues/create-issue.ts',
    code: `import './routes.ts';`,
    message: 'An operation is called by its route',
  },
  {
    file: 'services/forge/src/issues/edit-issue.ts',
    code: `import 'node:child_process';`,
    message: 'An operation is called by its route',
  },
  { file: 'services/state/src/rules/npm.ts', code: `import 'pg';`, message: 'A rule is pure' },
  { file: 'services/auth/src/store/npm.ts', code: `import 'pg';`, message: 'A store file has no decisions' },
  {
    file: 'services/auth/src/store/fs.ts',
    code: `import 'node:fs';`,
    message: 'A store file has no decisions',
  },
  { file: 'packages/sql/src/a.ts', code: `import '@croft/auth';`, message: 'Imports go one way' },
  {
    file: 'services/auth/src/sign-up/a.ts',
    code: `import '@croft/forge';`,
    message: 'Services never import each other',
  },
  {
    file: 'services/auth/src/sign-up/b.ts',
    code: `import '../../../forge/src/index.ts';\nimport '../../../../packages/sql/src/index.ts';`,
    message: 'Services',
  },
  {
    file: 'services/forge/src/issues/routes.ts',
    code: `import '../store/issues.ts';`,
    message: 'A route has no logic',
  },
  {
    file: 'services/forge/src/pulls/routes.ts',
    code: `import '../outside/git/merge.ts';`,
    message: 'A route has no logic',
  },
  {
    file: 'services/forge/src/collaborators/team-routes.ts',
    code: `import '../store/people/teams.ts';`,
    message: 'A route has no logic',
  },
  {
    file: 'services/state/src/rpc-extras.ts',
    code: `import './outside/storage/storage.ts';`,
    message: 'A route has no logic',
  },
  { file: 'services/state/src/rules/a.ts', code: `import 'node:fs';`, message: 'A rule is pure' },
  {
    file: 'services/state/src/rules/b.ts',
    code: `import '../outside/storage/storage.ts';`,
    message: 'A rule is pure',
  },
  { file: 'services/state/src/rules/c.ts', code: `import '@croft/sql';`, message: 'A rule is pure' },
  {
    file: 'services/state/src/rules/d.ts',
    code: `export const a = Date.now();`,
    message: 'A rule has no clock',
  },
  {
    file: 'services/state/src/rules/e.ts',
    code: `export const a = Math.random();`,
    message: 'A rule has no randomness',
  },
  {
    file: 'services/auth/src/store/users.ts',
    code: `import '../rules/ban.ts';`,
    message: 'A store file has no decisions',
  },
  {
    file: 'services/auth/src/store/sessions.ts',
    code: `import '@croft/failure';`,
    message: 'A store file has no decisions',
  },
  {
    file: 'services/auth/src/outside/mail/a.ts',
    code: `import '@croft/sql';`,
    message: 'outside/ talks to one external thing',
  },
  { file: 'services/auth/src/sign-up/c.ts', code: `export const a = process.env;`, message: 'process.env' },
  {
    file: 'services/auth/src/sign-up/d.ts',
    code: `async function a(): Promise<void> {}\na();`,
    message: 'no-floating-promises',
  },
  {
    file: 'services/auth/src/sign-up/e.ts',
    code: `import './f.ts';\nexport const e = 1;`,
    message: 'no-cycle',
  },
  {
    file: 'services/auth/src/sign-up/f.ts',
    code: `import './e.ts';\nexport const f = 1;`,
    message: 'no-cycle',
  },
];

/** Lints files that break each folder rule once and reports every one that got away: a rule may look at nothing. */
export async function lintCanary(): Promise<string> {
  const root = join(import.meta.dirname, '..');
  const folder = await mkdtemp(join(tmpdir(), 'croft-canary-'));
  try {
    await cp(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
    await cp(join(root, 'tsconfig.json'), join(folder, 'tsconfig.json'));
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    for (const { file, code } of OFFENCES) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), `${code}\n`);
    }
    const reports = await lint(root, folder);
    const missed = OFFENCES.filter(
      ({ file, message }) => !reports.some((report) => report.includes(file) && report.includes(message)),
    );
    return missed.map(({ file, message }) => `${file} was not refused with "${message}"`).join('\n');
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** One text for each finding, with the file's name in it. */
function lint(root: string, folder: string): Promise<string[]> {
  return new Promise((resolve) => {
    execFile(
      join(root, 'node_modules/.bin/oxlint'),
      ['--type-aware', '--format=json'],
      { cwd: folder, maxBuffer: 1e8 },
      (_, out) => {
        const { diagnostics } = JSON.parse(out) as { diagnostics: unknown[] };
        resolve(diagnostics.map((diagnostic) => JSON.stringify(diagnostic)));
      },
    );
  });
}
