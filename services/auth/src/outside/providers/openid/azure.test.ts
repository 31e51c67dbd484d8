import { outgoingHttp } from '@croft/http/outgoing';
import { systemClock } from '@croft/runtime';
import { describe, expect, test } from 'vitest';
import { azureIdTokens } from './azure.ts';

const DIRECTORY = '11111111-2222-3333-4444-555555555555';
const PERSONAL = '9188040d-6c67-4c5b-b112-36a304b66dad';
const MICROSOFT = 'https://login.microsoftonline.com';

function isVerified(url: string | undefined, claims: object): boolean | undefined {
  const http = outgoingHttp({ userAgent: 'test', trusted: [] });
  const client = {
    id: 'client',
    secret: 'x',
    redirectUri: 'https://auth.example/callback',
    skipNonceCheck: false,
  };
  const idTokens = azureIdTokens({ ...client, url, http, clock: systemClock });
  const all = {
    iss: `${MICROSOFT}/${DIRECTORY}/v2.0`,
    sub: 'a',
    email: 'ceo@victim.example',
    tid: DIRECTORY,
  };
  return idTokens.describe({ ...all, ...claims }).emails[0]?.verified;
}

describe('attack: the administrator of some directory writes the address of somebody else', () => {
  test.each([
    undefined,
    `${MICROSOFT}/common`,
    `${MICROSOFT}/organizations`,
    `${MICROSOFT}/consumers`,
    MICROSOFT,
    'https://login.microsoftonline.us/common',
  ])('%s: only the word of Microsoft counts', (url) => {
    expect(isVerified(url, {})).toBe(false);
    for (const xms_edov of [false, 'false', '0', 0, null, '', {}]) {
      expect([xms_edov, isVerified(url, { xms_edov })]).toEqual([xms_edov, false]);
      expect(isVerified(url, { xms_edov, tid: PERSONAL })).toBe(false);
    }
    for (const xms_edov of [true, 'true', '1', 1]) {
      expect([xms_edov, isVerified(url, { xms_edov })]).toEqual([xms_edov, true]);
    }
    expect(isVerified(url, { tid: PERSONAL })).toBe(true);
    for (const tid of [undefined, '', PERSONAL.toUpperCase(), `${PERSONAL} `, [PERSONAL]]) {
      expect([tid, isVerified(url, { tid })]).toEqual([tid, false]);
    }
  });
});

test.each([`${MICROSOFT}/${DIRECTORY}`, `${MICROSOFT}/contoso.onmicrosoft.com`, `${MICROSOFT}/${PERSONAL}`])(
  '%s: the operator chose the tenant, which may say more',
  (url) => {
    expect(isVerified(url, {})).toBe(true);
    expect(isVerified(url, { xms_edov: '0' })).toBe(false);
    expect(isVerified(url, { xms_edov: true })).toBe(true);
  },
);
