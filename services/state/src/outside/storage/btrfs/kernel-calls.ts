import { type ChildProcess, spawn } from 'node:child_process';
import { posix } from 'node:path';
import type { Ran } from '../../programs.ts';

/**
 * Takes a line for each call, the number of the job, the call and its arguments in hexadecimal, and answers with a line: `<job> ok <what it
 * gives>` or `<job> no <errno> <text>`. Each call has a process of its own, so that none waits for another's commit. Signals that end the daemon
 * reach this as well, from a terminal or systemd, and what is under way goes on: it ends with its input.
 *
 * The numbers and layouts are those of linux/btrfs.h (`BTRFS_IOC_SNAP_CREATE_V2` with `BTRFS_SUBVOL_RDONLY`, `BTRFS_IOC_SNAP_DESTROY`,
 * `BTRFS_IOC_GET_SUBVOL_INFO`, `BTRFS_IOC_GET_SUBVOL_ROOTREF`). A snapshot gives its uuid, and `0` when no subvolume lies in what it is
 * of; `-` is what is not known, as of kernels before 4.18.
 */
const PERL = String.raw`
use strict;
use Fcntl;
$| = 1;
$SIG{$_} = 'IGNORE' for qw(CHLD INT TERM HUP);
sub refuse { die $! + 0, "\n" }
sub folder { sysopen(my $folder, $_[0], O_RDONLY | O_DIRECTORY | O_NOFOLLOW) or refuse; $folder }
sub snapshot {
  my ($from, $into, $name) = @_;
  my ($source, $target) = (folder($from), folder($into));
  ioctl($target, 0x50009417, pack('qQQx32a4040', fileno($source), 0, 2, $name)) or refuse;
  my ($info, $refs) = ("\0" x 504, "\0" x 4096);
  my $made = eval { folder("$into/$name") };
  my $uuid = $made && ioctl($made, 0x81F8943C, $info) ? join('-', unpack('x296H8H4H4H4H12', $info)) : '-';
  my $nested = ioctl($source, 0xD000943D, $refs) ? unpack('x4088C', $refs) : '-';
  return "$uuid $nested";
}
sub destroy {
  while (my ($in, $name) = splice(@_, 0, 2)) {
    ioctl(folder($in), 0x5000940F, pack('qa4088', 0, $name)) or refuse;
  }
  return '-';
}
syswrite(STDOUT, "ready\n");
while (my $line = <STDIN>) {
  my ($job, $call, @args) = split(' ', $line);
  @args = map { pack('H*', $_) } @args;
  my $child = fork;
  next if $child;
  my $given = eval { refuse if !defined $child; $call eq 'snapshot' ? snapshot(@args) : destroy(@args) };
  $! = $@ if !defined $given;
  syswrite(STDOUT, defined $given ? "$job ok $given\n" : sprintf("%s no %d %s\n", $job, $!, $!));
  exit 0 if defined $child;
}
`;
/** Where the numbers above are what the kernel takes. */
const PROCESSORS = new Set(['x64', 'arm64', 'riscv64', 'loong64', 's390x']);
const ENOTTY = 25;
/** As a program; what hangs in the kernel may happen all the same, later. */
const TIMEOUT_MS = 60_000;

/** How a call ended. What it was to do is looked for where it does it, as after a program. */
export interface Called extends Pick<Ran, 'ok' | 'stderr' | 'why'> {
  /** Of what it made. */
  readonly uuid?: string;
  /** No subvolume lies in what it is a snapshot of. */
  readonly isAlone?: true;
}

interface Helper {
  readonly process: ChildProcess;
  readonly jobs: Map<number, (called: Called | undefined) => void>;
  isReady: boolean;
}

/**
 * Calls of the kernel that Node does not have, by a Perl that stays. A program for each would be started from a process of our size,
 * which holds all of it up for milliseconds; see decision 0017. Where this cannot be done, programs do it.
 */
export class KernelCalls {
  readonly #searchPath: string;
  #helper: Helper | undefined;
  #isMissing = !PROCESSORS.has(process.arch);
  #jobs = 0;

  constructor(searchPath: string) {
    this.#searchPath = searchPath;
  }

  /** It is there already when it is first needed. */
  start(): void {
    if (!this.#isMissing) this.#helper ??= this.#launch();
  }

  /** A read-only snapshot, which is on the disk then. @returns undefined when a program has to do it, and nothing was done */
  snapshot(from: string, to: string): Promise<Called | undefined> {
    return this.call('snapshot', [from, posix.dirname(to), posix.basename(to)]);
  }

  /** Deletes subvolumes, in their order, up to one that cannot be; a crash may bring them back. @returns as {@link snapshot} */
  destroy(paths: readonly string[]): Promise<Called | undefined> {
    const args = paths.flatMap((path) => [posix.dirname(path), posix.basename(path)]);
    return this.call('destroy', args);
  }

  call(name: 'snapshot' | 'destroy', args: readonly string[]): Promise<Called | undefined> {
    this.start();
    const helper = this.#helper;
    if (helper === undefined) return Promise.resolve(undefined);
    const job = ++this.#jobs;
    return new Promise((resolve) => {
      const late = `${name} did not end within ${TIMEOUT_MS / 1000} s`;
      const timer = setTimeout(() => this.#end(helper, job, failed(late)), TIMEOUT_MS);
      helper.jobs.set(job, (called) => {
        clearTimeout(timer);
        resolve(called);
      });
      const line = [job, name, ...args.map((arg) => Buffer.from(arg).toString('hex'))].join(' ');
      helper.process.stdin?.write(`${line}\n`);
    });
  }

  /** It ends when it has nothing to do. */
  close(): void {
    this.#helper?.process.stdin?.end();
    this.#isMissing = true;
    this.#helper = undefined;
  }

  #launch(): Helper {
    const child = spawn('perl', ['-e', PERL], {
      env: { PATH: this.#searchPath, LC_ALL: 'C' },
      cwd: '/',
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const helper: Helper = { process: child, jobs: new Map(), isReady: false };
    const gone = () => this.#gone(helper);
    child.on('error', gone).on('close', gone);
    // It may end before it reads.
    child.stdin.on('error', () => {});
    let rest = '';
    child.stdout.setEncoding('latin1').on('data', (piece: string) => {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#answered(helper, line);
    });
    return helper;
  }

  #answered(helper: Helper, line: string): void {
    if (line === 'ready') {
      helper.isReady = true;
      return;
    }
    const [job = '', ended, given = '', ...text] = line.split(' ');
    const told = {
      ...(given === '-' ? {} : { uuid: given }),
      ...(text[0] === '0' ? { isAlone: true as const } : {}),
    };
    if (ended === 'ok') this.#end(helper, Number(job), { ok: true, stderr: '', why: '', ...told });
    // What lies there is no btrfs, or the kernel does not know the call: the program says it better, or can.
    else if (Number(given) === ENOTTY) this.#end(helper, Number(job), undefined);
    else this.#end(helper, Number(job), failed(text.join(' ')));
  }

  #end({ jobs }: Helper, job: number, called: Called | undefined): void {
    jobs.get(job)?.(called);
    jobs.delete(job);
  }

  /** Before it is ready it has done nothing. From now on programs do it: slower, and they do not end with one call. */
  #gone(helper: Helper): void {
    this.close();
    const called = helper.isReady ? failed('perl ended') : undefined;
    for (const job of helper.jobs.keys()) this.#end(helper, job, called);
  }
}

function failed(why: string): Called {
  return { ok: false, stderr: why, why };
}
