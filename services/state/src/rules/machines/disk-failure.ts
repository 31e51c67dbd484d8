import { notEnoughSpace, writesRefused } from '../../failures.ts';

const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];
/** Node has no name for a quota that is used up. */
const QUOTA = -122;
const BROKEN = ['EROFS', 'EIO', 'ENODEV', 'ENXIO', 'ESTALE'];

/** What a disk that takes no more is for the caller; any other error as it is. @param what was written to */
export function diskFailure(error: unknown, what: string): unknown {
  const { code, errno, message } = error as NodeJS.ErrnoException;
  if (FULL.includes(code ?? '') || errno === QUOTA) return notEnoughSpace(what, 'nothing', 'more');
  if (BROKEN.includes(code ?? '')) return writesRefused(what, message);
  return error;
}
