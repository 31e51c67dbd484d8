import { expect, test } from 'vitest';
import { checkChannel, checkPhoneNumber, normalizePhone } from './phone-number.ts';

test.each([
  ['14155552671', '14155552671'],
  ['+14155552671', '14155552671'],
  ['+1 415 555 2671', '14155552671'],
  ['12', '12'],
  ['123456789012345', '123456789012345'],
])('%j is %s', (given, stored) => {
  expect(checkPhoneNumber(given)).toBe(stored);
});

test.each([
  '',
  '+',
  '0',
  '1',
  '0123456',
  '++14155552671',
  ' +14155552671',
  '1234567890123456',
  '+1-415-555-2671',
  '(415) 5552671',
  '1415555\t2671',
  '1415555267a',
  '١٤١٥٥٥٥٢٦٧١',
  '14155552671\n',
  '14155552671;ext=1',
  '+0014155552671',
])('%j is no number', (given) => {
  expect(() => checkPhoneNumber(given)).toThrow('Invalid phone number format (E.164 required)');
});

test('normalising checks nothing', () => {
  expect(normalizePhone('+ 0 x')).toBe('0x');
});

test.each([
  ['', undefined, 'sms'],
  ['sms', 'vonage', 'sms'],
  ['whatsapp', 'twilio', 'whatsapp'],
  ['whatsapp', 'twilio_verify', 'whatsapp'],
])('channel %j with %s', (channel, provider, taken) => {
  expect(checkChannel(channel, provider)).toBe(taken);
});

test.each([
  ['whatsapp', 'vonage'],
  ['whatsapp', undefined],
  ['SMS', 'twilio'],
  ['call', 'twilio_verify'],
])('channel %j with %s is refused', (channel, provider) => {
  expect(() => checkChannel(channel, provider)).toThrow(
    /^Invalid channel, supported values are 'sms' or 'whatsapp'\./,
  );
});
