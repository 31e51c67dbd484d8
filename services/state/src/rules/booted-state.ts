/** The state a kernel command line says was booted: `statesvc.state=<id>`, the last one counts as for the kernel. */
export function bootedState(commandLine: string): string | undefined {
  const words = commandLine.split(/\s+/).filter((word) => word.startsWith('statesvc.state='));
  return words.at(-1)?.slice('statesvc.state='.length) || undefined;
}
