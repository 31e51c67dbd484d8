import { expect, test } from 'vitest';
import { EndpointError } from './error.ts';
import { expand } from './expand.ts';

test.each([
  ['section 2.3: a list of undefined members is undefined', 'X{?a}', { a: [null, undefined] }, 'X'],
  [
    'section 2.3: undefined members of a map are ignored',
    '{?a*}',
    { a: { b: 1, c: undefined, d: null } },
    '?b=1',
  ],
  [
    'section 2.3: a name may be percent-encoded and dotted',
    '{?Stra%C3%9Fe,last.name}',
    { 'Stra%C3%9Fe': 'a', 'last.name': 'b' },
    '?Stra%C3%9Fe=a&last.name=b',
  ],
  ['section 2.3: a name may be a number', '{42}', { 42: 'x' }, 'x'],
  [
    'section 2.4.1: a prefix counts characters, not UTF-16 units',
    '{a:1}',
    { a: '\u{1D11E}b' },
    '%F0%9D%84%9E',
  ],
  [
    'section 2.4.1: a prefix does not split the triplets of a character',
    '{+a:2}',
    { a: 'a%C3%9Fb' },
    'a%C3%9F',
  ],
  ['section 2.4.1: a prefix counts a percent sign that will be encoded', '{a:2}', { a: 'a%20' }, 'a%25'],
  ['section 2.4.1: a prefix of no value is none', 'X{a:1}{?b:2,c:3}', { a: [], b: {}, c: [null] }, 'X'],
  ['section 2.4.2: an exploded string is a string', '{?a*}', { a: 'b' }, '?a=b'],
  [
    'section 3.1: literals keep reserved characters and triplets',
    "/a?b=[c]&d='%41%zz",
    {},
    "/a?b=[c]&d='%41%25zz",
  ],
  ['section 3.1: other literals are encoded', '/ä "<\\^`|>\t', {}, '/%C3%A4%20%22%3C%5C%5E%60%7C%3E%09'],
  ['section 3.2.1: + keeps triplets and encodes a bare percent sign', '{+a}', { a: '%2F%foo' }, '%2F%25foo'],
  ['section 3.2.7: an empty member exploded with ; has no equals sign', '{;a*}', { a: { b: '' } }, ';b'],
  ['a date is ISO 8601', '{a}', { a: new Date(0) }, '1970-01-01T00%3A00%3A00.000Z'],
  [
    'numbers, booleans and bigints are their text',
    '{a,b,c,d}',
    { a: 1e21, b: false, c: 10n ** 20n, d: -0.5 },
    '1e%2B21,false,100000000000000000000,-0.5',
  ],
  ['what has a toJSON has a text', '{+a}', { a: new URL('http://h/x') }, 'http://h/x'],
  [
    'an instance has one in a list and in a map too',
    '{a}{?b*}',
    { a: [new Date(0)], b: { c: new URL('h:x') } },
    '1970-01-01T00%3A00%3A00.000Z?c=h%3Ax',
  ],
  [
    'half a surrogate pair is U+FFFD, as in a URL of the platform',
    '{a}{+a}',
    { a: '\ud800b\udc00' },
    '%EF%BF%BDb%EF%BF%BD%EF%BF%BDb%EF%BF%BD',
  ],
  ['inherited names are undefined', '{constructor}{toString}{__proto__}', {}, ''],
])('%s', (_, template, values, expansion) => expect(expand(template, values)).toBe(expansion));

test.each([
  ['{', 0],
  ['}', 0],
  ['{}', 0],
  ['a{b', 1],
  ['{/id*', 0],
  ['/id*}', 4],
  ['{{a}}', 0],
  ['{a}}', 3],
  ['{a b}', 0],
  ['{ a}', 0],
  ['{a }', 0],
  ['{a,}', 0],
  ['{,a}', 0],
  ['{a,,b}', 0],
  ['{?x, y}', 0],
  ['{=a}', 0],
  ['{!a}', 0],
  ['{@a}', 0],
  ['{|a}', 0],
  ['{$a}', 0],
  ['{??a}', 0],
  ['{/?a}', 0],
  ['{~a}', 0],
  ['{a-b}', 0],
  ['{.a.}', 0],
  ['{a..b}', 0],
  ['{..a}', 0],
  ['{%4}', 0],
  ['{a%zz}', 0],
  ['{a:}', 0],
  ['{a:0}', 0],
  ['{a:01}', 0],
  ['{a:10000}', 0],
  ['{a:x}', 0],
  ['{a:3*}', 0],
  ['{a*:3}', 0],
  ['{a**}', 0],
  ['{*a}', 0],
  ['a{b}{c d}{', 4],
  ['{a}/{}', 4],
])('a malformed template %s is refused at %i', (template, position) => {
  const refused = expect.objectContaining({ name: 'EndpointError', option: 'template', position });
  expect(() => expand(template, { a: 'b' })).toThrow(refused);
});

test.each([
  ['a prefix of a list', '{a:1}', [1]],
  ['a prefix of a map', '{+a:1}', { b: 1 }],
  ['a list in a list', '{a}', [[1]]],
  ['a map in a list', '{?a*}', [{ b: 1 }]],
  ['a list in a map', '{a*}', { b: [1] }],
  ['a symbol', '{a}', Symbol('a')],
  ['a function', '{a}', () => 1],
  ['an invalid date', '{a}', new Date(Number.NaN)],
  ['an object without text', '{a}', new Map()],
  ['a plain object with a method', '{a}', { toJSON: () => 'b' }],
  ['a list of one whose toJSON is no method', '{a}', [{ toJSON: 1 }]],
  ['a map of one', '{?a*}', { b: { toJSON: 'c' } }],
])('%s is refused and named', (_, template, a) => {
  expect(() => expand(template, { a })).toThrow(EndpointError);
  expect(() => expand(template, { a })).toThrow(/^a at /);
});
