import { expect, test } from 'vitest';
import { plainTextOf } from './plain-text.ts';

test.each([
  ['paragraphs', '<h2>Hello</h2>\n\n<p>one\n  two</p><p>three</p>', 'Hello\n\none two\n\nthree\n'],
  ['line breaks', 'a<br>b<br/><br>c', 'a\nb\n\nc\n'],
  [
    'links',
    '<p>Go <a href="https://x.example/?a=1&amp;b=2">here</a> now</p>',
    'Go here:\nhttps://x.example/?a=1&b=2\nnow\n',
  ],
  ['a link that shows itself', '<a href="https://x.example/">https://x.example/</a>', 'https://x.example/\n'],
  ['a link around a picture', '<a href=https://x.example/><img src="x"></a>', 'https://x.example/\n'],
  ['mail links', "<a class=x href='mailto:a@b.c'>a@b.c</a>", 'a@b.c\n'],
  [
    'anchors and other schemes have no address',
    '<a name="x">a</a> <a href="#x">b</a> <a href="javascript:x">c</a>',
    'a b c\n',
  ],
  [
    'lists and tables',
    '<ul><li>a</li><li>b</li></ul><table><tr><td>1</td><td>2</td></tr></table>',
    'a\nb\n1 2\n',
  ],
  [
    'what nobody sees',
    '<head><title>t</title></head><style>p > a {}</style><script>"<p>"</script>x<!-- <p>no</p> -->y',
    'xy\n',
  ],
  ['entities', '&lt;b&gt; &amp;amp; &#34;&#x27;&nbsp;&copy; &nope; &#0;', '<b> &amp; "\' © &nope;\n'],
  ['marks that are no tags', '1 < 2 > 1 <> <3', '1 < 2 > 1 <> <3\n'],
  ['a > inside an attribute', '<p title="a>b">c</p>', 'c\n'],
  [
    'no address hides inside another attribute',
    `<a title=" href=https://evil.example " href="https://x.example/">a</a>`,
    'a:\nhttps://x.example/\n',
  ],
  ['quotes that open nothing', `<p a=x"y>it's</p><p title= "a>b">c</p>`, "it's\n\nc\n"],
  ['declarations', '<!DOCTYPE html><?xml a=">" ?>a</>b</ x>c', '" ?>abc\n'],
  ['a tag without an end', 'a<p b', 'a\n'],
  ['nothing', '', '\n'],
])('%s', (_, html, text) => {
  expect(plainTextOf(html)).toBe(text);
});

test('a long mail takes no long time', () => {
  const began = process.cpuUsage();
  plainTextOf('<b>x</b><a href="https://x">y</a><td>'.repeat(30_000));
  plainTextOf('<p>'.repeat(300_000));
  plainTextOf(`<p ${'x'.repeat(1_000_000)}`);
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1000).toBeLessThan(2_000);
});
