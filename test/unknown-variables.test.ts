import { describe, expect, it, test } from 'vitest';
import { readConfiguration } from '../launcher/configuration.ts';

const required = { AUTHSVC_SITE_URL: 'http://a.test', AUTHSVC_JWT_SECRET: 'x'.repeat(32) };
const read = (environment: Record<string, string>) =>
  readConfiguration({ ...required, ...environment }, ['auth'], true);

describe('a name from elsewhere is explained', () => {
  it.each([
    [
      'GOTRUE_API_EXTERNAL_URL',
      "GOTRUE_API_EXTERNAL_URL is not read, Croft's variables have a prefix of their own; here it is AUTHSVC_API_EXTERNAL_URL",
    ],
    [
      'GOTRUE_API_API_EXTERNAL_URL',
      "GOTRUE_API_API_EXTERNAL_URL is not read, Croft's variables have a prefix of their own; here it is AUTHSVC_API_EXTERNAL_URL",
    ],
    [
      'GOTRUE_DB_DB_NAMESPACE',
      "GOTRUE_DB_DB_NAMESPACE is not read, Croft's variables have a prefix of their own; here it is AUTHSVC_DB_NAMESPACE",
    ],
    [
      'GOTRUE_EXTERNAL_GITHUB_CLIENT_ID',
      "GOTRUE_EXTERNAL_GITHUB_CLIENT_ID is not read, Croft's variables have a prefix of their own; here it is AUTHSVC_EXTERNAL_GITHUB_CLIENT_ID",
    ],
    ['GOTRUE_PROFILER_PORT', 'GOTRUE_PROFILER_PORT is not read: Croft has no such setting'],
    [
      'AUTHSVC_API_API_EXTERNAL_URL',
      'AUTHSVC_API_API_EXTERNAL_URL is no setting of Croft; here it is plainly AUTHSVC_API_EXTERNAL_URL',
    ],
    [
      'AUTHSVC_DB_DB_NAMESPACE',
      'AUTHSVC_DB_DB_NAMESPACE is no setting of Croft; here it is plainly AUTHSVC_DB_NAMESPACE',
    ],
    ['AUTHSVC_PORT', 'AUTHSVC_PORT is no setting of Croft; here it is plainly AUTHSVC_API_PORT'],
    [
      'AUTHSVC_EXTERNAL_GITHUB_CLIENTID',
      'AUTHSVC_EXTERNAL_GITHUB_CLIENTID is no setting of Croft; did you mean AUTHSVC_EXTERNAL_GITHUB_CLIENT_ID?',
    ],
  ])('%s', async (name, sentence) => {
    expect((await read({ [name]: 'x' })).warnings).toEqual([sentence]);
  });

  it('but not when ours is there as well, or when it is empty', async () => {
    const { warnings } = await read({
      GOTRUE_SITE_URL: 'http://b.test',
      GOTRUE_JWT_SECRET: 'y',
      GOTRUE_DISABLE_SIGNUP: '',
    });
    expect(warnings).toEqual([]);
  });

  it('and never with its value', async () => {
    const { warnings } = await read({ GOTRUE_SMTP_PASS: 'hunter2', AUTHSVC_SMTP_PAS: 'hunter2' });
    expect(warnings).toHaveLength(2);
    expect(warnings.join()).not.toContain('hunter2');
  });
});

describe('every spelling of the contract is read', () => {
  test.each(['DATABASE_URL', 'AUTHSVC_DATABASE_URL', 'AUTHSVC_DB_DATABASE_URL'])(
    '%s is the database auth uses, and nothing is embedded',
    async (name) => {
      const own = { [name]: 'postgresql://somewhere', AUTHSVC_API_EXTERNAL_URL: 'http://c.test' };
      const configuration = await read(own);
      expect(configuration.warnings).toEqual([]);
      expect(configuration.needsEmbeddedDatabase).toBe(false);
    },
  );

  test('an address of the database that forge does not read leaves forge in the house', async () => {
    const configuration = await readConfiguration(
      { FORGE_DB_DATABASE_URL: 'postgresql://somewhere' },
      ['forge'],
      true,
    );
    expect(configuration.needsEmbeddedDatabase).toBe(true);
    expect(configuration.warnings).toHaveLength(1);
  });

  test.each(['LOG_LEVEL', 'AUTHSVC_LOG_LEVEL'])('%s is the level of the log', async (name) => {
    const configuration = await read({ [name]: 'warn' });
    expect([configuration.settings.LOG_LEVEL, configuration.logLevelGiven]).toEqual(['warn', true]);
    expect(configuration.warnings).toEqual([]);
  });

  test.each(['LOG_FILE', 'AUTHSVC_LOG_FILE'])('%s is the file of the log', async (name) => {
    const configuration = await read({ [name]: '/somewhere/croft.log' });
    expect([configuration.settings.LOG_FILE, configuration.logLevelGiven]).toEqual([
      '/somewhere/croft.log',
      false,
    ]);
  });

  test.each(['API_EXTERNAL_URL', 'AUTHSVC_API_EXTERNAL_URL'])('%s is where auth is', async (name) => {
    expect((await read({ [name]: 'https://auth.test' })).authUrl).toBe('https://auth.test');
  });
});
