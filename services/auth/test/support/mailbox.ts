import type { Mail } from '@croft/testing';
import { readMail, type Subject } from '../harness.ts';

/** Mails to an address, oldest first; whatever waits is delivered before. */
export async function mailsTo(subject: Subject, address: string): Promise<Mail[]> {
  return (await subject.mails()).filter(({ headers }) => headers.get('to') === address);
}

/** Link and code of the newest mail to an address. */
export async function newestTo(subject: Subject, address: string) {
  return readMail((await mailsTo(subject, address)).at(-1));
}
