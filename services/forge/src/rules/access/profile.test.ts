import { expect, test } from 'vitest';
import { checkProfile, type Profile, readVisibility } from './profile.ts';

test.each<[string, Profile]>([
  ['nothing', {}],
  ['empty texts', { fullName: '', email: '', description: '', website: '', location: '' }],
  ['what fits', { fullName: 'x'.repeat(100), description: 'x'.repeat(255), location: 'x'.repeat(50) }],
  ['an address of the web', { website: 'https://a.example/b?c#d' }],
  ['an e-mail address', { email: 'a@b.example' }],
])('accepted: %s', (_what, profile) => {
  expect(() => checkProfile(profile)).not.toThrow();
});

test.each<[string, Profile, string]>([
  ['a long name', { fullName: 'x'.repeat(101) }, '[FullName]: MaxSize(100)'],
  ['a long location', { location: 'x'.repeat(51) }, '[Location]: MaxSize(50)'],
  ['a link that runs', { website: 'javascript://x/%0aalert(1)' }, '[Website]: ValidUrl'],
  ['a path', { website: '/a' }, '[Website]: ValidUrl'],
  ['no host', { website: 'http://' }, '[Website]: ValidUrl'],
  ['an address with a name', { email: 'A <a@b.example>' }, '[Email]: Email'],
  ['two lines', { email: 'a@b.example\nbcc: c@d.example' }, '[Email]: Email'],
])('refused: %s', (_what, profile, message) => {
  expect(() => checkProfile(profile)).toThrow(message);
});

test.each([
  [undefined, 'limited'],
  [null, 'limited'],
  ['', 'limited'],
  ['private', 'private'],
] as const)('the visibility %j is %s', (text, expected) => {
  expect(readVisibility(text, 'limited')).toBe(expected);
});

test('other words are no visibility', () => {
  expect(() => readVisibility('Private', 'public')).toThrow('[Visibility]: In(public,limited,private)');
});
