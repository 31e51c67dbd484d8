import { expect, test } from 'vitest';
import { signatureOf, signedHeader } from './signature.ts';

// RFC 5849 §1.2, whose example is signed with a token; and Twitter's own worked example of a signature.
test('the example of RFC 5849', () => {
  const request = {
    method: 'GET',
    url: 'http://photos.example.net/photos?file=vacation.jpg&size=original',
    oauth: {
      oauth_consumer_key: 'dpf43f3p2l4k3l03',
      oauth_token: 'nnch734d00sl2jdk',
      oauth_signature_method: 'HMAC-SHA1',
      oauth_timestamp: '137131202',
      oauth_nonce: 'chapoH',
    },
  } as const;
  const secrets = { consumer: 'kd94hf93k423kf44', token: 'pfkkdhi9sl3r4s00' };
  expect(signatureOf(request, secrets)).toBe('MdpQcU8iPSUjWoN/UDMsK2sui9I=');
  expect(signedHeader(request, secrets)).toContain('oauth_signature="MdpQcU8iPSUjWoN%2FUDMsK2sui9I%3D"');
});

test('every character outside the unreserved ones is encoded, twice where it is part of the base string', () => {
  const request = {
    method: 'POST',
    url: 'https://api.example/a?q=!*%27()+é',
    oauth: { oauth_callback: 'https://b.example/?c=d e' },
  } as const;
  expect(signatureOf(request, { consumer: 'a&b', token: '' })).toMatch(/^[A-Za-z0-9+/]{27}=$/);
  expect(signedHeader(request, { consumer: 'a&b', token: '' })).toContain(
    'oauth_callback="https%3A%2F%2Fb.example%2F%3Fc%3Dd%20e"',
  );
});
