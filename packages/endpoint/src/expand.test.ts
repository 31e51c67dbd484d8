import { describe, expect, test } from 'vitest';
import { EndpointError } from './error.ts';
import { expand } from './expand.ts';

// The variables of RFC 6570 section 3.2
const variables = {
  count: ['one', 'two', 'three'],
  dom: ['example', 'com'],
  dub: 'me/too',
  hello: 'Hello World!',
  half: '50%',
  var: 'value',
  who: 'fred',
  base: 'http://example.com/home/',
  path: '/foo/bar',
  list: ['red', 'green', 'blue'],
  keys: { semi: ';', dot: '.', comma: ',' },
  v: '6',
  x: '1024',
  y: '768',
  empty: '',
  empty_keys: {},
  undef: null,
};

// `template → expansion`, as the RFC prints them
const examples: Record<string, string> = {
  '1.2 level 1': `
    {var} → value
    {hello} → Hello%20World%21`,
  '1.2 level 2': `
    {+var} → value
    {+hello} → Hello%20World!
    {+path}/here → /foo/bar/here
    here?ref={+path} → here?ref=/foo/bar
    X{#var} → X#value
    X{#hello} → X#Hello%20World!`,
  '1.2 level 3': `
    map?{x,y} → map?1024,768
    {x,hello,y} → 1024,Hello%20World%21,768
    {+x,hello,y} → 1024,Hello%20World!,768
    {+path,x}/here → /foo/bar,1024/here
    {#x,hello,y} → #1024,Hello%20World!,768
    {#path,x}/here → #/foo/bar,1024/here
    X{.var} → X.value
    X{.x,y} → X.1024.768
    {/var} → /value
    {/var,x}/here → /value/1024/here
    {;x,y} → ;x=1024;y=768
    {;x,y,empty} → ;x=1024;y=768;empty
    {?x,y} → ?x=1024&y=768
    {?x,y,empty} → ?x=1024&y=768&empty=
    ?fixed=yes{&x} → ?fixed=yes&x=1024
    {&x,y,empty} → &x=1024&y=768&empty=`,
  '1.2 level 4': `
    {var:3} → val
    {var:30} → value
    {list} → red,green,blue
    {list*} → red,green,blue
    {keys} → semi,%3B,dot,.,comma,%2C
    {keys*} → semi=%3B,dot=.,comma=%2C
    {+path:6}/here → /foo/b/here
    {+list} → red,green,blue
    {+list*} → red,green,blue
    {+keys} → semi,;,dot,.,comma,,
    {+keys*} → semi=;,dot=.,comma=,
    {#path:6}/here → #/foo/b/here
    {#list} → #red,green,blue
    {#list*} → #red,green,blue
    {#keys} → #semi,;,dot,.,comma,,
    {#keys*} → #semi=;,dot=.,comma=,
    X{.var:3} → X.val
    X{.list} → X.red,green,blue
    X{.list*} → X.red.green.blue
    X{.keys} → X.semi,%3B,dot,.,comma,%2C
    X{.keys*} → X.semi=%3B.dot=..comma=%2C
    {/var:1,var} → /v/value
    {/list} → /red,green,blue
    {/list*} → /red/green/blue
    {/list*,path:4} → /red/green/blue/%2Ffoo
    {/keys} → /semi,%3B,dot,.,comma,%2C
    {/keys*} → /semi=%3B/dot=./comma=%2C
    {;hello:5} → ;hello=Hello
    {;list} → ;list=red,green,blue
    {;list*} → ;list=red;list=green;list=blue
    {;keys} → ;keys=semi,%3B,dot,.,comma,%2C
    {;keys*} → ;semi=%3B;dot=.;comma=%2C
    {?var:3} → ?var=val
    {?list} → ?list=red,green,blue
    {?list*} → ?list=red&list=green&list=blue
    {?keys} → ?keys=semi,%3B,dot,.,comma,%2C
    {?keys*} → ?semi=%3B&dot=.&comma=%2C
    {&var:3} → &var=val
    {&list} → &list=red,green,blue
    {&list*} → &list=red&list=green&list=blue
    {&keys} → &keys=semi,%3B,dot,.,comma,%2C
    {&keys*} → &semi=%3B&dot=.&comma=%2C`,
  '3.2.1 variable expansion': `
    {count} → one,two,three
    {count*} → one,two,three
    {/count} → /one,two,three
    {/count*} → /one/two/three
    {;count} → ;count=one,two,three
    {;count*} → ;count=one;count=two;count=three
    {?count} → ?count=one,two,three
    {?count*} → ?count=one&count=two&count=three
    {&count*} → &count=one&count=two&count=three`,
  '3.2.2 simple string expansion': `
    {half} → 50%25
    O{empty}X → OX
    O{undef}X → OX
    {x,y} → 1024,768
    ?{x,empty} → ?1024,
    ?{x,undef} → ?1024
    ?{undef,y} → ?768`,
  '3.2.3 reserved expansion': `
    {+half} → 50%25
    {base}index → http%3A%2F%2Fexample.com%2Fhome%2Findex
    {+base}index → http://example.com/home/index
    O{+empty}X → OX
    O{+undef}X → OX
    up{+path}{var}/here → up/foo/barvalue/here`,
  '3.2.4 fragment expansion': `
    {#half} → #50%25
    foo{#empty} → foo#
    foo{#undef} → foo`,
  '3.2.5 label expansion with dot-prefix': `
    {.who} → .fred
    {.who,who} → .fred.fred
    {.half,who} → .50%25.fred
    www{.dom*} → www.example.com
    X{.empty} → X.
    X{.undef} → X
    X{.empty_keys} → X
    X{.empty_keys*} → X`,
  '3.2.6 path segment expansion': `
    {/who} → /fred
    {/who,who} → /fred/fred
    {/half,who} → /50%25/fred
    {/who,dub} → /fred/me%2Ftoo
    {/var,empty} → /value/
    {/var,undef} → /value`,
  '3.2.7 path-style parameter expansion': `
    {;who} → ;who=fred
    {;half} → ;half=50%25
    {;empty} → ;empty
    {;v,empty,who} → ;v=6;empty;who=fred
    {;v,bar,who} → ;v=6;who=fred
    {;x,y,undef} → ;x=1024;y=768`,
  '3.2.8 form-style query expansion': `
    {?who} → ?who=fred
    {?half} → ?half=50%25
    {?x,y,undef} → ?x=1024&y=768`,
  '3.2.9 form-style query continuation': `
    {&who} → &who=fred
    {&half} → &half=50%25
    {&x,y,undef} → &x=1024&y=768`,
};

describe.each(Object.entries(examples))('RFC 6570 section %s', (_, table) => {
  const rows = table
    .trim()
    .split('\n')
    .map((row) => row.trim().split(' → '));
  test.each(rows)('%s', (template, expansion) =>
    expect(expand(template as string, variables)).toBe(expansion),
  );
});

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
  ['inherited names are undefined', '{constructor}{toString}{__proto__}', {}, ''],
])('%s', (_, template, values, expansion) => expect(expand(template, values)).toBe(expansion));

test.each([
  ['{', 1],
  ['}', 0],
  ['{}', 1],
  ['a{b', 3],
  ['{/id*', 5],
  ['/id*}', 4],
  ['{{a}}', 1],
  ['{a}}', 3],
  ['{a b}', 2],
  ['{ a}', 1],
  ['{a }', 2],
  ['{a,}', 3],
  ['{,a}', 1],
  ['{a,,b}', 3],
  ['{?x, y}', 4],
  ['{=a}', 1],
  ['{!a}', 1],
  ['{@a}', 1],
  ['{|a}', 1],
  ['{$a}', 1],
  ['{??a}', 2],
  ['{/?a}', 2],
  ['{~a}', 1],
  ['{a-b}', 2],
  ['{.a.}', 3],
  ['{a..b}', 2],
  ['{..a}', 2],
  ['{%4}', 1],
  ['{a%zz}', 2],
  ['{a:}', 2],
  ['{a:0}', 2],
  ['{a:01}', 2],
  ['{a:10000}', 7],
  ['{a:x}', 2],
  ['{a:3*}', 4],
  ['{a*:3}', 3],
  ['{a**}', 3],
  ['{*a}', 1],
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
  ['a lone surrogate', '{a}', '\ud800'],
  ['a lone surrogate, reserved', '{+a}', 'b\udc00'],
])('%s is refused and named', (_, template, a) => {
  expect(() => expand(template, { a })).toThrow(EndpointError);
  expect(() => expand(template, { a })).toThrow(/^a at /);
});
