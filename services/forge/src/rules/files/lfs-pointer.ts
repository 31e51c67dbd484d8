/** What stands in a repository for a file that Git LFS keeps elsewhere. */
export interface LfsPointer {
  /** SHA-256 of the file. */
  oid: string;
  /** Bytes of the file. */
  size: number;
}

/** A pointer is shorter, by the format's own rule. */
export const MAX_POINTER_BYTES = 1024;

/** Reads a pointer (version 1 of the format of Git LFS, with extensions); undefined for what is none. */
export function readLfsPointer(text: string): LfsPointer | undefined {
  const [, oid, size] = POINTER.exec(text) ?? [];
  return oid === undefined || !Number.isSafeInteger(Number(size)) ? undefined : { oid, size: Number(size) };
}

const POINTER =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-\d-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n/;
