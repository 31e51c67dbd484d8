/** Croft cannot start for a reason the person at the terminal can mend: printed as one line, exit code 1. */
export class Refusal extends Error {
  name = 'Refusal';
}

/** What a person can do about a folder that refuses to be written. */
export function explainFolder(error, folder) {
  switch (error.code) {
    case 'EROFS':
      return new Refusal(
        `${folder} is on a read-only file system, so packages cannot be installed there. Install them where it can be written: npm ci --ignore-scripts.`,
      );
    case 'EACCES':
    case 'EPERM':
      return new Refusal(
        `${folder} cannot be written by this user, so packages cannot be installed there. Give it to the user that runs Croft, or run npm ci --ignore-scripts as its owner.`,
      );
    case 'ENOSPC':
    case 'EDQUOT':
      return new Refusal(
        `The disk of ${folder} is full. Free about 1 GB for Croft's packages and start again.`,
      );
    default:
      return error;
  }
}
