/** What an entry of a tree is. */
export type EntryType = 'folder' | 'file' | 'link' | 'fifo' | 'socket' | 'block' | 'char';

/** One entry of a tree of files: a line of a vault's manifest, or what a walk of a folder found. */
export interface Entry {
  /** Path text below the tree; `.` is the tree's own folder. A folder comes before what is in it. */
  readonly path: string;
  readonly type: EntryType;
  /** Permission bits in octal, `4755`. */
  readonly mode: string;
  readonly uid: number;
  readonly gid: number;
  /** Modification time in nanoseconds since 1970, as text because it does not fit a number. */
  readonly mtimeNs: string;
  readonly size?: number;
  /** SHA-256 of the content; a walk does not read files and has none. */
  readonly hash?: string;
  /** The file had holes. */
  readonly sparse?: true;
  /** Files with the same value are one file with several names. */
  readonly inode?: string;
  /** Where a link points, as path text. */
  readonly target?: string;
  /** Device number. */
  readonly rdev?: string;
  /**
   * Extended attributes, access control lists among them: values in base64, in the order of the names. A tree of which they
   * were read says so at its own folder, which has them then even when it has none; elsewhere none are left out.
   */
  readonly attributes?: Readonly<Record<string, string>>;
  /** Its attributes could not be read, so nobody knows them; without them the mode may allow too much. */
  readonly bare?: true;
  /** The content could not be read: the system's error code. */
  readonly unreadable?: string;
  /** It changed while it was read, also the second and third time. */
  readonly torn?: true;
  /** The content of this folder was left out on purpose: another file system, or the place where states are kept. */
  readonly leftOut?: 'mount' | 'storage';
}
