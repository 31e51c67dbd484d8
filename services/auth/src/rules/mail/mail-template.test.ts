import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTemplate, writeHtml, writeLine } from './mail-template.ts';

const variables = {
  Email: 'ada@example.com',
  SiteURL: 'https://site.example',
  Token: '123456',
  Data: {
    name: 'Ada',
    empty: '',
    none: null,
    'two words': 'found',
    nested: { deep: { value: 7 } },
    list: ['a', 'b', 'c'],
    prices: { beer: 3, ale: 4 },
    yes: true,
    count: 3,
  },
};
const html = (template: string, more: object = {}): string =>
  writeHtml(readTemplate(template), { ...variables, ...more });

describe('the language', () => {
  test.each([
    ['nothing', 'plain', 'plain'],
    ['a variable', '{{ .Email }}', 'ada@example.com'],
    ['without blanks', '{{.Email}}', 'ada@example.com'],
    ['over lines', '{{\n .Email\n}}', 'ada@example.com'],
    ['braces that open nothing', '{ } }} {x}', '{ } }} {x}'],
    ['a path', '{{ .Data.nested.deep.value }}', '7'],
    ['a missing path', '[{{ .Data.no.such.thing }}{{ .Nope }}{{ .Data.none }}]', '[]'],
    [
      'index',
      '{{ index .Data "two words" }} {{ index .Data.list 1 }} {{ index .Data "nested" "deep" }}',
      'found b {&#34;value&#34;:7}',
    ],
    ['index beyond the end', '[{{ index .Data.list 9 }}{{ index .Data.name "x" }}]', '[]'],
    ['if', '{{ if .Data.yes }}y{{ end }}{{ if .Data.empty }}n{{ end }}', 'y'],
    ['else', '{{ if .Data.empty }}a{{ else }}b{{ end }}', 'b'],
    ['else if', '{{ if .Nope }}a{{ else if eq .Data.count 3 }}b{{ else }}c{{ end }}', 'b'],
    ['the last else', '{{ if .Nope }}a{{ else if .Nope }}b{{ else }}c{{ end }}', 'c'],
    ['empty lists and objects are false', '{{ if .L }}a{{ end }}{{ if .O }}b{{ end }}', ''],
    ['range', '{{ range .Data.list }}<{{ . }}>{{ end }}'.replace(/[<>]/g, '|'), '|a||b||c|'],
    ['range with key and value', '{{ range $i, $e := .Data.list }}{{ $i }}{{ $e }}{{ end }}', '0a1b2c'],
    [
      'range over an object, by name',
      '{{ range $k, $v := .Data.prices }}{{ $k }}={{ $v }};{{ end }}',
      'ale=4;beer=3;',
    ],
    ['range over nothing', '{{ range .Data.none }}x{{ else }}none{{ end }}', 'none'],
    ['range over a text is over nothing', '{{ range .Email }}x{{ end }}', ''],
    ['the root inside a range', '{{ range .Data.list }}{{ $.Token }}{{ end }}', '123456123456123456'],
    ['with', '{{ with .Data.nested }}{{ .deep.value }}{{ end }}{{ with .Nope }}x{{ else }}y{{ end }}', '7y'],
    ['variables', '{{ $n := .Data.name }}{{ if true }}{{ $n = "Bob" }}{{ end }}{{ $n }}', 'Bob'],
    [
      'an inner variable ends with its block',
      '{{ $n := 1 }}{{ if true }}{{ $n := 2 }}{{ $n }}{{ end }}{{ $n }}',
      '21',
    ],
    ['comments', 'a{{/* {{ not }} "this */}}b', 'ab'],
    ['trimming', 'a  \n {{- " b " -}} \n  c', 'a b c'],
    ['trimmed comments', 'a {{- /* x */ -}} b', 'ab'],
    ['texts', '{{ "a\\"}}b" }}{{ `}}` }}', 'a&#34;}}b}}'],
    ['numbers', '{{ -1 }} {{ 2.5 }}', '-1 2.5'],
    ['a pipeline', '{{ .Data.name | printf "%s-%s" "x" | len }}', '5'],
    [
      'parentheses',
      '{{ if and (eq .Data.name "Ada") (not .Nope) }}y{{ end }}{{ (index .Data "nested").deep.value }}',
      'y7',
    ],
    ['and, or', '{{ and 1 0 }}{{ and 1 2 }}{{ or 0 "" "x" }}{{ or 0 "" }}', '02x'],
    ['eq of several', '{{ eq .Data.count 1 2 3 }} {{ ne .Data.count 3 }}', 'true false'],
    ['order', '{{ lt 1 2 }}{{ le 2 2 }}{{ gt "b" "a" }}{{ ge 1 2 }}{{ lt "a" 1 }}', 'truetruetruefalsefalse'],
    ['len', '{{ len .Data.list }}{{ len "äb" }}{{ len .Nope }}', '330'],
    ['slice', '{{ slice .Token 0 3 }}-{{ slice .Token 3 }}', '123-456'],
    ['printf', '{{ printf "%s %d %v %q %%" "a" 1 true "x" }}', 'a 1 true &#34;x&#34; %'],
    ['urlquery', '{{ urlquery "a b&c" }}', 'a%20b%26c'],
  ])('%s', (_, template, expected) => {
    expect(html(template, { L: [], O: {} })).toBe(expected);
  });

  test.each([
    '{{',
    '{{ .Email',
    '{{ }}',
    '{{ if }}x{{ end }}',
    '{{ if .Email }}',
    '{{ end }}',
    '{{ else }}',
    '{{ if .A }}a{{ else }}b{{ else }}c{{ end }}',
    '{{ range .A }}a{{ else if .B }}b{{ end }}',
    '{{ end .A }}',
    '{{ .Email .Token }}',
    '{{ "x" | .Email }}',
    '{{ nosuch .Email }}',
    '{{ call .Email }}',
    '{{ template "x" }}',
    '{{ define "x" }}{{ end }}',
    '{{ (.Email }}',
    '{{ .Email) }}',
    '{{ .Email | }}',
    '{{ $x }}',
    '{{ $x = 1 }}',
    '{{ .x := 1 }}',
    '{{/* no end',
    '{{ "no end }}',
    '{{ "\\x41" }}',
    '{{ .Email + 1 }}',
    `{{ ${'('.repeat(30)}1${')'.repeat(30)} }}`,
    `${'{{ if true }}'.repeat(101)}${'{{ end }}'.repeat(101)}`,
    `{{ "${'x'.repeat(5000)}" }}`,
  ])('refuses %j with the place', (template) => {
    expect(() => html(template)).toThrow(expect.objectContaining({ name: 'TemplateError' }));
  });

  test('names the line', () => {
    expect(() => readTemplate('a\n\n{{ .Email }}\n{{ if }}')).toThrow(/^line 4: /);
    expect(() => html('a\n<script>\n{{ .Email }}</script>')).toThrow(/^line 3: /);
  });

  test('what a prototype has is not data', () => {
    const names = ['constructor', '__proto__', 'toString', 'length', 'constructor.prototype', 'name.length'];
    for (const name of names) expect(html(`[{{ .Data.${name} }}{{ .${name} }}]`)).toBe('[]');
    expect(html('[{{ index .Data.list "length" }}{{ index .Data "hasOwnProperty" }}]')).toBe('[]');
  });
});

describe('every value is escaped for its place', () => {
  const bad = `"'><script>alert(1)</script>&\`=`;
  const inText = '&#34;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;`=';
  test.each([
    ['text', '<p>{{ .V }}</p>', `<p>${inText}</p>`],
    ['a title', '<title>{{ .V }}</title>x', `<title>${inText}</title>x`],
    ['a textarea', '<textarea>{{ .V }}</textarea>', `<textarea>${inText}</textarea>`],
    ['an attribute', '<p title="{{ .V }}">', `<p title="${inText}">`],
    ['an attribute in single quotes', "<p title='{{ .V }}'>", `<p title='${inText}'>`],
    [
      'an attribute without quotes',
      '<p title={{ .V }}>',
      '<p title=&#34;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;&#96;&#61;>',
    ],
    ['a comment', '<!-- {{ .V }} -->x', '<!--  -->x'],
    ['a style element', '<style>p{color:{{ .V }}}</style>', '<style>p{color:ZgotmplZ}</style>'],
    ['a style attribute', '<p style="color:{{ .V }}">', '<p style="color:ZgotmplZ">'],
    [
      'a value after markup in a conditional comment',
      '<!--[if mso]><p>{{ .V }}</p><![endif]-->',
      `<!--[if mso]><p>${inText}</p><![endif]-->`,
    ],
    [
      'text after a conditional that others see',
      '<!--[if !mso]><!--><p>{{ .V }}</p><!--<![endif]-->',
      `<!--[if !mso]><!--><p>${inText}</p><!--<![endif]-->`,
    ],
  ])('%s', (_, template, expected) => {
    expect(html(template, { V: bad })).toBe(expected);
  });

  test.each([
    ['a', '<a href="{{ .V }}">', 'javascript:alert(1)', '<a href="#ZgotmplZ">'],
    ['in capitals', '<a HREF="{{ .V }}">', 'JaVaScRiPt:alert(1)', '<a HREF="#ZgotmplZ">'],
    ['with blanks', '<a href=" {{ .V }}">', ' \tjavascript:alert(1)', '<a href=" #ZgotmplZ">'],
    ['split by a control', '<a href="{{ .V }}">', 'java\nscript:alert(1)', '<a href="#ZgotmplZ">'],
    ['data', '<img src="{{ .V }}">', 'data:text/html,x', '<img src="#ZgotmplZ">'],
    ['without quotes', '<a href={{ .V }}>', 'vbscript:x', '<a href=#ZgotmplZ>'],
    ['a form', '<button formaction="{{ .V }}">', 'javascript:x', '<button formaction="#ZgotmplZ">'],
    ['with a namespace', '<v:rect xlink:href="{{ .V }}">', 'javascript:x', '<v:rect xlink:href="#ZgotmplZ">'],
    ['a data attribute', '<p data-href="{{ .V }}">', 'javascript:x', '<p data-href="#ZgotmplZ">'],
    ['in two values', '<a href="{{ "java" }}{{ .V }}">', 'script:x', '<a href="java#ZgotmplZ">'],
    [
      'after the template began one',
      '<a href="javascript:f(\'{{ .V }}\')">',
      '1',
      `<a href="javascript:f('#ZgotmplZ')">`,
    ],
    [
      'after the template began a value',
      '<a href="{{ .V }}:{{ .V }}">',
      'javascript',
      '<a href="javascript:#ZgotmplZ">',
    ],
    [
      'http',
      '<a href="{{ .V }}">',
      'https://x.example/?a=1&b=%20"',
      '<a href="https://x.example/?a=1&amp;b=%20%22">',
    ],
    ['mailto', '<a href="mailto:{{ .V }}">', 'a@b.c', '<a href="mailto:a@b.c">'],
    ['a scheme of the template', '<a href="tel:{{ .V }}{{ .V }}">', '+1', '<a href="tel:+1+1">'],
    ['relative', '<a href="/x/{{ .V }}">', 'a:b/c d', '<a href="/x/a:b/c%20d">'],
    [
      'a query',
      '<a href="https://x/?to={{ .V }}&a=1">',
      'https://y/?a=1&b=#2',
      '<a href="https://x/?to=https%3A%2F%2Fy%2F%3Fa%3D1%26b%3D%232&a=1">',
    ],
    [
      'after a value with a query',
      '<a href="{{ "https://x/?a" }}&b={{ .V }}">',
      '&c=1',
      '<a href="https://x/?a&b=%26c%3D1">',
    ],
    ['a broken percent', '<a href="/{{ .V }}">', '100%/%41/\ud800', '<a href="/100%25/%41/%EF%BF%BD">'],
  ])('a URL: %s', (_, template, value, expected) => {
    expect(html(template, { V: value })).toBe(expected);
  });

  test.each(['#ff0000', 'red', '12px', '1.5em', '50%', 'Helvetica, Arial'])('a style may be %j', (value) => {
    expect(html('<p style="x:{{ .V }}">', { V: value })).toBe(`<p style="x:${value}">`);
  });
  test.each(['expression(1)', 'url(x)', 'a;b:c', '}', '</style>', '--x', '\\65', '/*', 'Expression'])(
    'and not %j',
    (value) => {
      expect(html('<p style="x:{{ .V }}">', { V: value })).toBe('<p style="x:ZgotmplZ">');
    },
  );

  test.each([
    '<script>{{ .V }}</script>',
    '<SCRIPT type="x">var a = "{{ .V }}"</SCRIPT>',
    '<script><!-- <script> </script> {{ .V }} </script> --></script>',
    '<p onclick="{{ .V }}">',
    '<img srcset="{{ .V }}">',
    '<iframe srcdoc="{{ .V }}">',
    '<{{ .V }}>',
    '</{{ .V }}>',
    '<p{{ .V }}>',
    '<p {{ .V }}>',
    '<p {{ .V }}="x">',
    '<p a{{ .V }}="x">',
    '<p a="x"{{ .V }}>',
    '<p a {{ .V }}>',
    '<!DOCTYPE {{ .V }}>',
    '<!{{ .V }}>',
    '<?xml {{ .V }}?>',
    '<a href="x',
    '<p title={{ .V }}',
    '<!-- x',
    '<style>p{}',
  ])('no value can be made safe in %j', (template) => {
    expect(() => html(template, { V: 'x' })).toThrow(expect.objectContaining({ name: 'TemplateError' }));
  });

  test('branches need not agree on the place', () => {
    const template = '<a {{ if .A }}href="{{ else }}title="{{ end }}{{ .V }}">x</a>';
    expect(html(template, { V: 'javascript:x', A: true })).toBe('<a href="#ZgotmplZ">x</a>');
    expect(html(template, { V: 'javascript:x' })).toBe('<a title="javascript:x">x</a>');
  });

  test('whatever the value is, the markup stays that of the template', () => {
    const template =
      '<p title="{{ .V }}" class=\'{{ .V }}\' id={{ .V }} style="x:{{ .V }}"><a href="{{ .V }}">{{ .V }}</a><!-- {{ .V }} --></p>';
    const markupOf = (text: string): string => text.replace(/[^<>"']/g, '').replace(/''/g, "''");
    const harmless = markupOf(html(template, { V: 'x' }));
    const nasty = fc.string({
      unit: fc.constantFrom(
        ...'<>"\'`=&;:/?#%-!\\\0\n \tajscript({})'.split(''),
        '-->',
        '<!--',
        'javascript:',
      ),
    });
    fc.assert(
      fc.property(nasty, (value) => {
        const written = html(template, { V: value });
        expect(markupOf(written)).toBe(harmless);
        expect(written).not.toMatch(/href="\s*(?:javascript|data|vbscript)/i);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a template cannot hold the process up', () => {
  /** Milliseconds of computing, which other processes of the machine do not lengthen. */
  const time = (work: () => void): number => {
    const began = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  };

  test.each([
    ['blanks before a trimming action', ' '.repeat(1_000_000)],
    ['opening braces', '{ '.repeat(500_000)],
    ['angle brackets', '<'.repeat(1_000_000)],
    ['an endless tag', `<p ${'a="b" '.repeat(150_000)}>`],
    ['an endless comment', `<!--${'--!'.repeat(300_000)}-->`],
    ['many actions', '{{ .Email }}'.repeat(50_000)],
    ['many values in one URL', `<a href="${'{{ .Email }}'.repeat(50_000)}">`],
  ])('a megabyte of %s', (_, template) => {
    expect(time(() => html(template))).toBeLessThan(2_000);
  });

  test('loops in loops over what a user stored end', () => {
    const many = Array.from({ length: 50_000 }, () => 'x');
    const template = '{{ range .V }}{{ range $.V }}{{ range $.V }}x{{ end }}{{ end }}{{ end }}';
    expect(time(() => expect(() => html(template, { V: many })).toThrow(/too many steps/))).toBeLessThan(
      1_000,
    );
    const long = 'x'.repeat(1_000_000);
    expect(() => html('{{ .V }}{{ .V }}{{ .V }}', { V: long })).toThrow(/too long/);
    const copies = '{{ range .L }}{{ if print $.V $.V }}{{ end }}{{ end }}';
    expect(time(() => expect(() => html(copies, { V: long, L: many })).toThrow(/too many/))).toBeLessThan(
      1_000,
    );
  });

  test('any text is a template or is refused', () => {
    const words = fc.constantFrom(
      '{{',
      '}}',
      ' ',
      'if',
      'end',
      'else',
      'range',
      '.A',
      '$x',
      ':=',
      '(',
      ')',
      '|',
      '"',
      '`',
      '-',
      '<p ',
      '>',
      '=',
      'eq',
      '1',
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 40 }), (parts) => {
        try {
          html(parts.join(''));
        } catch (error) {
          expect((error as Error).name).toBe('TemplateError');
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

test('a line has values as they are, and is one line', () => {
  const line = (template: string, value: unknown): string => writeLine(readTemplate(template), { V: value });
  expect(line('Hello {{ .V }}!', '<Ada> & "Bob"')).toBe('Hello <Ada> & "Bob"!');
  expect(line('Hello {{ .V }}', 'Ada\r\nBcc: everyone@example.com\r\n\r\nbody')).toBe(
    'Hello Ada Bcc: everyone@example.com body',
  );
  expect(line('a\n{{ .V }}\n', 'b\0\u2028c\x7f')).toBe('a b c');
  expect(line('{{ .V }}', 'x'.repeat(10_000))).toHaveLength(500);
});
