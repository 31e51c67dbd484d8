import { expect, test } from 'vitest';
import { problemOfSmsTemplate, writeSms } from './sms-text.ts';

test.each([
  ['Your code is {{ .Code }}', 'Your code is 042137'],
  ['{{.Code}} is it, {{  .Code  }} again', '042137 is it, 042137 again'],
  ['a \n {{- .Code -}} \n b', 'a042137b'],
  ['{{ .Code -}}  x', '042137x'],
  ['<#> {{ .Code }} @site.example #{{ .Code }}', '<#> 042137 @site.example #042137'],
])('%j', (template, text) => {
  expect(problemOfSmsTemplate(template)).toBeUndefined();
  expect(writeSms(template, '042137')).toBe(text);
});

test('a code is text, whatever is in it', () => {
  expect(writeSms('{{ .Code }}!', "$&$'{{ .Code }}")).toBe("$&$'{{ .Code }}!");
});

test.each([
  ['Hello', /does not contain/],
  ['', /does not contain/],
  ['{{ .Code }} {{ .Code', /never closed/],
  ['{{ .Token }} {{ .Code }}', /\.Token.*means nothing/],
  ['{{ if .Code }}{{ .Code }}{{ end }}', /if \.Code/],
])('%j cannot be used', (template, problem) => {
  expect(problemOfSmsTemplate(template)).toMatch(problem);
});

test('a hostile template takes no long time', () => {
  const blanks = ' '.repeat(20_000);
  const started = performance.now();
  for (const template of [
    `${blanks}{{${blanks}`,
    `{{${blanks}}`,
    '{{ '.repeat(20_000),
    `{{- ${blanks} -}}${blanks}`,
  ]) {
    problemOfSmsTemplate(template);
    writeSms(template, '042137');
  }
  expect(performance.now() - started).toBeLessThan(500);
});
