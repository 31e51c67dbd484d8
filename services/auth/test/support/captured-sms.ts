import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Subject } from '../harness.ts';

/** A captured message as tests look at it. */
export interface CapturedSms {
  /** What answers call it. */
  id: string;
  /** Digits only, as numbers are stored. */
  to: string;
  text: string;
  /** The code in the text, or an empty text. */
  code: string;
}

/** Delivers what is due and returns all captured messages, oldest first. */
export async function capturedSms(subject: Subject): Promise<CapturedSms[]> {
  await subject.mails();
  const folder = join(subject.dataFolder, 'sms');
  await mkdir(folder, { recursive: true });
  const names = (await readdir(folder)).filter((name) => name.endsWith('.txt')).sort();
  return await Promise.all(
    names.map(async (name) => {
      const content = await readFile(join(folder, name), 'utf8');
      const [, text = '', to = ''] = /^(.*)\n\nTo: \+(\d+)\nChannel: sms\n$/s.exec(content) ?? [];
      const id = /^[^-]+-\d+-(.+)\.txt$/.exec(name)?.[1] ?? '';
      return { id, to, text, code: /\d{6,10}/.exec(text)?.[0] ?? '' };
    }),
  );
}

/** The code that went to a number last. */
export async function lastCode(subject: Subject, phone: string): Promise<string> {
  return (await capturedSms(subject)).findLast(({ to }) => to === phone)?.code ?? '';
}
