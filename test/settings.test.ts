import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readConfiguration } from '../launcher/configuration.ts';
import { readEnvironment } from '../launcher/environment.ts';

const read = (environment: Record<string, string>) =>
  readConfiguration(environment, ['auth', 'forge'], false);

describe('under npm start', () => {
  it('a mail server needs an address that mails come from, and captured mail does not', async () => {
    await expect(read({ AUTHSVC_SMTP_HOST: 'mail.test' })).rejects.toThrow(
      'AUTHSVC_SMTP_ADMIN_EMAIL is required',
    );
    const settings = { AUTHSVC_SMTP_HOST: 'mail.test', AUTHSVC_SMTP_ADMIN_EMAIL: 'a@site.test' };
    expect((await read(settings)).warnings).toEqual([]);
    expect((await read({})).warnings).toEqual([]);
  });

  it.each(['AUTHSVC_JWT_SECRET', 'FORGE_JWT_SECRET', 'CROFT_AT_REST_KEY'])(
    'a short %s is warned of, without its value',
    async (name) => {
      const { warnings } = await read({ [name]: 'hunter2' });
      expect(warnings).toEqual([expect.stringMatching(new RegExp(`^${name} is shorter than 32 bytes`))]);
      expect(warnings.join()).not.toContain('hunter2');
      expect((await read({ [name]: 'x'.repeat(32) })).warnings).toEqual([]);
    },
  );
});

describe('the file .env', () => {
  const before = process.cwd();
  let folder: string;
  const told = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'croft-env-'));
    process.chdir(folder);
    told.mockClear();
  });
  afterEach(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });
  const warned = () => told.mock.calls.map(([text]) => String(text));

  it('is read whole with the mark of a byte order', () => {
    writeFileSync('.env', '\uFEFFCROFT_ONE=1\nCROFT_TWO=2\n');
    expect(readEnvironment().environment).toMatchObject({ CROFT_ONE: '1', CROFT_TWO: '2' });
    expect(warned()).toEqual([]);
  });

  it('has lines that are no assignments, and they are named', () => {
    writeFileSync(
      '.env',
      `# a comment\n\nexport CROFT_A=1\nsecret words\r\nCROFT_B: 2\nCROFT_C='a\nb\nc'\n  CROFT_D = "x" # y\nCROFT_E="open\nCROFT_F=1\n`,
    );
    expect(readEnvironment().environment).toMatchObject({
      CROFT_A: '1',
      CROFT_C: 'a\nb\nc',
      CROFT_D: 'x',
      CROFT_E: '"open',
      CROFT_F: '1',
    });
    expect(warned()).toEqual([
      'Warning: line 4 of .env is no assignment such as NAME=value and is left out.\n',
      'Warning: line 5 of .env is no assignment such as NAME=value and is left out.\n',
    ]);
  });
});
