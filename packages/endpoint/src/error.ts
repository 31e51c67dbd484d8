/** Every refusal of this package: `option` names the option at fault, `position` the index of the fault in its text. */
export class EndpointError extends Error {
  declare readonly option: string;
  declare readonly position: number;

  constructor(problem: string, option: string, position = 0) {
    super(`${option} at ${position}: ${problem}`);
    this.name = 'EndpointError';
    this.option = option;
    this.position = position;
  }
}

/** Refuses a text in which `pattern` is found, at that position. */
export function refuse(pattern: RegExp, text: string, problem: string, option: string, offset = 0): void {
  const position = text.search(pattern);
  if (position >= 0) throw new EndpointError(problem, option, position + offset);
}
