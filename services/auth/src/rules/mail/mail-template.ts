import { evaluate, type TemplateOutput } from './template/evaluate.ts';
import { htmlOutput } from './template/html-output.ts';
import { parseTemplate, type TemplateNode } from './template/parse.ts';

/** A template that was read: it can be written any number of times. */
export interface Template {
  readonly nodes: readonly TemplateNode[];
}

/**
 * Reads a template in the language of Go's templates, which the contract's users write theirs in.
 * @throws TemplateError
 */
export function readTemplate(source: string): Template {
  return { nodes: parseTemplate(source) };
}

/**
 * Writes a template of HTML; every value is escaped for the place where it stands.
 * @throws TemplateError
 */
export function writeHtml(template: Template, variables: Readonly<Record<string, unknown>>): string {
  const output = htmlOutput();
  evaluate(template.nodes, variables, output);
  return output.result();
}

/**
 * Writes a template of one line, such as a subject: values as they are, without line breaks and other controls.
 * @throws TemplateError
 */
export function writeLine(template: Template, variables: Readonly<Record<string, unknown>>): string {
  const parts: string[] = [];
  const output: TemplateOutput = {
    literal: (text) => void parts.push(text),
    value: (text) => void parts.push(text),
  };
  evaluate(template.nodes, variables, output);
  const line = parts.join('').replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
  return line.slice(0, LINE_LIMIT).toWellFormed().trim();
}

/** Characters; a subject longer than this is somebody's attempt at something. */
const LINE_LIMIT = 500;
