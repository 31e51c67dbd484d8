/** The default branch after the first push: the intended one if it was pushed, else a usual name, else the first. */
export function chooseDefaultBranch(pushed: readonly string[], intended: string): string | undefined {
  return [intended, 'main', 'master'].find((name) => pushed.includes(name)) ?? pushed[0];
}
