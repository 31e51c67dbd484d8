/** An auth service in a process of its own, for tests that kill it: prints its address once it is up. */
import { flushCompileCache } from 'node:module';
import { type Clock, silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { startAuth } from '../../src/index.ts';
import { authSettings } from '../../src/settings.ts';

const [databaseUrl = '', dataFolder = '', smtpPort = '', aheadMs = '0'] = process.argv.slice(2);
/** Ahead of the machine's, so that a test need not wait for the lease a dead process left. */
const clock: Clock = { now: () => new Date(Date.now() + Number(aheadMs)) };
const service = await startAuth({
  settings: readSettings(authSettings, {
    AUTHSVC_SITE_URL: 'https://site.example',
    AUTHSVC_API_EXTERNAL_URL: 'https://auth.example',
    AUTHSVC_API_PORT: '0',
    AUTHSVC_JWT_SECRET: 'a-secret-of-the-tests-that-nobody-else-has',
    AUTHSVC_SMTP_HOST: '127.0.0.1',
    AUTHSVC_SMTP_PORT: smtpPort,
    AUTHSVC_SMTP_ADMIN_EMAIL: 'no-reply@site.example',
  }),
  databaseUrl,
  dataFolder,
  log: silentLog,
  clock,
  version: '0.0.0-test',
  secrets: { atRestKey: new Secret('an at-rest key of the tests') },
});
console.log(service.address);
flushCompileCache();
