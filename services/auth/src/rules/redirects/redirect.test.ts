import { describe, expect, test } from 'vitest';
import { compileGlob, splitPatterns } from './glob.ts';
import { chooseRedirect } from './redirect.ts';

function policy(siteUrl: string, list = '') {
  return { siteUrl, allowed: splitPatterns(list).map(compileGlob) };
}

/** Site, list and wish; the last column is true when the wish is granted, else people go to the site. */
const table: [site: string, list: string, wish: string, granted: boolean][] = [
  // GoTrue, in its order
  ['http://localhost:3000/#/', 'http://localhost:3000', 'http://localhost:3000/#/', true],
  ['https://someapp-something.codemagic.app/#/', 'http://localhost:3000', 'http://localhost:3000', true],
  [
    'https://someapp-something.codemagic.app/#/',
    'http://localhost:3000',
    'http://localhost:3000/docs',
    false,
  ],
  ['http://sub.test.dev:3000/#/', 'http://*.test.dev:3000', 'http://sub.test.dev:3000/#/', true],
  ['http://sub.test.dev/#/', 'http://*.other.dev:3000', 'http://sub.other.dev:3000', true],
  ['http://test.dev:3000/#/', 'http://*.allowed.dev:3000', 'http://sub.test.dev:3000/#/', false],
  ['http://test.dev:3000/#/', 'twitter://timeline', 'twitter://timeline', true],
  ['http://test.dev:3000/#/', 'com.example.app://**', 'com.example.app://sign-in/v2', true],
  ['http://localhost:3000', 'http://*.*.dev:3000', 'http://foo.bar.dev:3000', true],
  ['http://localhost:3000', 'http://*.dev:3000', 'http://foo.bar.dev:3000', false],
  ['http://localhost:3000', 'http://test.dev:3000/*/*', 'http://test.dev:3000/bar/foo', true],
  ['http://localhost:3000', 'http://test.dev:3000/*', 'http://test.dev:3000/bar/foo', false],
  ['http://localhost:3000', 'http://*.example.com/*', 'http://something#.example.com/abc', false],
  ['http://localhost:3000', 'http://*.example.com/*', 'http://japanese。.example.com/abc', false],
  ['http://localhost:3000', 'com.myapp://**', 'com.myapp://', true],
  // "any URI sharing its host"
  ['https://site.example', '', 'https://site.example/welcome?x=1#y', true],
  ['https://site.example', '', 'https://SITE.example/welcome', true],
  // What each pattern would read to its end, and a mail would carry.
  ['https://site.example', '', `https://site.example/${'x'.repeat(4075)}`, true],
  ['https://site.example', '', `https://site.example/${'x'.repeat(4076)}`, false],
  ['https://site.example', '', 'https://other.example/', false],
  ['https://site.example', '', 'https://sub.site.example/', false],
  ['https://site.example', '', 'https://site.example.evil.example/', false],
  ['https://site.example', '', 'https://site.example:444/', false],
  ['https://site.example', '', 'http://site.example/', false],
  ['http://site.example', '', 'https://site.example/', true],
  ['http://localhost:3000', '', 'http://localhost:5173/', true],
  ['https://site.example', '', 'javascript://site.example/%0aalert(1)', false],
  ['https://site.example', '', 'data://site.example/,x', false],
  ['com.example.app://callback', '', 'com.example.app://callback/done', true],
  // what a browser would read differently from us
  ['https://site.example', '', 'https://site.example\\@evil.example/', false],
  ['https://site.example', '', 'https://site.example@evil.example/', false],
  ['https://site.example', '', 'https://evil.example\\.site.example/', false],
  ['https://site.example', '', '//evil.example/', false],
  ['https://site.example', '', '/relative', false],
  ['https://site.example', '', 'https:evil.example', false],
  ['https://site.example', '', 'https://evil.example\n.site.example/', false],
  ['https://site.example', '', ' https://site.example/', false],
  ['https://site.example', 'https://**', 'https://user@evil.example/', false],
  ['https://site.example', 'http://*', 'http://2130706433', false],
  ['https://site.example', 'https://*', 'https://0x08080808', false],
  ['https://site.example', 'https://*.*', 'https://0x8.0x080808', false],
  ['https://site.example', 'https://*.*.*.*', 'https://010.8.8.8', false],
  // a wildcard in the host ends with the host, though nothing but a question mark shows where that is
  ['https://site.example', 'https://*.listed.example/**', 'https://evil?.listed.example/', false],
  ['https://site.example', 'https://*.listed.example/**', 'https://0x08080808?.listed.example/', false],
  ['https://site.example', 'https://app.*.listed.example/**', 'https://app.evil?.listed.example/', false],
  ['https://site.example', 'https://*.listed.example/**', 'https://app.listed.example/?x=1', true],
  ['https://site.example', 'https://*.listed.example/**', 'https://app.listed.example?x=1', true],
  // nor does a path lead out of the listed one
  ['https://site.example', 'https://listed.example/app/**', 'https://listed.example/app/../other', false],
  ['https://site.example', 'https://listed.example/app/**', 'https://listed.example/app/a/%2e%2E/x', false],
  ['https://site.example', 'https://listed.example/app/**', 'https://listed.example/app/..\\other', false],
  ['https://site.example', 'https://listed.example/app/**', 'https://listed.example/app/../o?\u2028', false],
  ['https://site.example', 'https://listed.example/app/**', 'https://listed.example/app/v1..v2/.x', true],
  ['https://site.example', 'https://listed.example/app/**', 'https://listed.example/app/?from=/../x', true],
  ['https://site.example', '', 'https://site.example/app/../other', true],
  // addresses count when they are listed, like any other
  ['https://site.example', '', 'http://127.0.0.1:3000/', false],
  ['https://site.example', 'http://192.168.1.5:3000/**', 'http://192.168.1.5:3000/a/b', true],
  ['https://site.example', '', '', false],
];

describe('redirect_to (§3.10)', () => {
  test.each(table)('%s permitting "%s": %s → %s', (site, list, wish, granted) => {
    expect(chooseRedirect({ parameter: wish }, policy(site, list))).toBe(granted ? wish : site);
  });

  const site = policy('https://site.example', 'https://listed.example/*');

  test('the header counts before the parameter', () => {
    const wish = { header: 'https://site.example/a', parameter: 'https://site.example/b' };
    expect(chooseRedirect(wish, site)).toBe('https://site.example/a');
  });

  test('what is not permitted gives way to the page the request came from, if that is', () => {
    const wish = { parameter: 'https://evil.example/', referer: 'https://listed.example/page' };
    expect(chooseRedirect(wish, site)).toBe('https://listed.example/page');
    expect(chooseRedirect({ ...wish, referer: 'https://evil.example/x' }, site)).toBe('https://site.example');
  });
});
