/** What the kernel command line says about states. */
export interface CommandLine {
  /** Id of the state to go back to: `statesvc.state=<id>`. */
  readonly state: string | undefined;
  /** Homes go back, too: `statesvc.revert=userdata`. */
  readonly users: boolean;
  /** Dataset of ZFS, or snapshot of one, that is the root: `root=ZFS=pool/root@name`. */
  readonly root?: string | undefined;
  /** The name of the kernel's file: the end of `BOOT_IMAGE=`; empty when the loader does not tell. */
  readonly kernel: string;
}

/** Reads a kernel command line; of words that are there twice the last one counts, as for the kernel. */
export function parseCommandLine(text: string): CommandLine {
  const words = new Map<string, string>();
  for (const word of text.split(/\s+/)) {
    const at = word.indexOf('=');
    if (at > 0) words.set(word.slice(0, at), word.slice(at + 1));
  }
  return {
    state: words.get('statesvc.state') || undefined,
    users: words.get('statesvc.revert') === 'userdata',
    // Initramfs tools spell it in both ways; `zfs:AUTO` leaves it to the pool.
    root: /^zfs[:=]([^/:]+\/.+)$/i.exec(words.get('root') ?? '')?.[1],
    kernel: words.get('BOOT_IMAGE')?.split('/').at(-1) ?? '',
  };
}
