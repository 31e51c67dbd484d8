/** A template that cannot be used; the message is for whoever wrote it and never holds a value. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';

  constructor(problem: string, line?: number) {
    super(line === undefined ? problem : `line ${line}: ${problem}`);
  }
}
