import type { OutgoingHttp } from '@croft/http/outgoing';
import type { Clock, Log } from '@croft/runtime';
import { type MailData, type MailKind, mailKinds } from '../../rules/mail/mail-kinds.ts';
import { readTemplate, type Template, writeHtml, writeLine } from '../../rules/mail/mail-template.ts';
import { builtInTemplate, type MailText, mailText, templateVariables } from '../../rules/mail/mail-text.ts';
import type { AuthSettings } from '../../settings.ts';
import { type TemplateSource, templateSource } from './template-source.ts';

/** Writes mails with the operator's templates, or with the built-in ones where those cannot be used. */
export interface MailTemplates {
  /** Never fails for a template's sake. @throws the signal's reason when it is aborted */
  render(kind: MailKind, data: MailData, signal: AbortSignal): Promise<MailText>;
}

/** Long enough for a slow site; mails wait for it, but nobody's request does. */
const READ_TIMEOUT_MS = 5_000;

/** A template as it was last had. */
interface Kept {
  source: string;
  /** Undefined when the text is no template. */
  template: Template | undefined;
  /** Whether the log knows that it cannot be used. */
  isReported: boolean;
}

/** One template of the settings, over the life of the process. */
interface Slot {
  from: TemplateSource;
  kept: Kept | undefined;
  nextReadAt: number;
  reading: Promise<void> | undefined;
}

/**
 * Opens the templates of the settings. Nothing is read before the first mail of a kind. A template is kept for
 * `MAILER_TEMPLATE_MAX_AGE`, and longer while its source is away; a new text that cannot be used gives way to the
 * built-in mail, and is named in the log once.
 */
export function openTemplates(
  settings: AuthSettings,
  http: OutgoingHttp,
  log: Log,
  clock: Clock,
): MailTemplates {
  const subjects = new Map<MailKind, Kept>();
  const slots = new Map<MailKind, Slot>();
  for (const [kind, facts] of Object.entries(mailKinds) as [MailKind, (typeof mailKinds)[MailKind]][]) {
    subjects.set(kind, keep(settings[facts.subjectSetting], kind, 'subject'));
    const setting = settings[facts.templateSetting];
    if (setting === undefined) continue;
    const from = templateSource(setting, settings.SITE_URL, http);
    slots.set(kind, { from, kept: undefined, nextReadAt: 0, reading: undefined });
  }

  function keep(source: string, kind: MailKind, part: 'subject' | 'template'): Kept {
    const kept: Kept = { source, template: undefined, isReported: false };
    try {
      kept.template = readTemplate(source);
    } catch (error) {
      report(kept, kind, part, error);
    }
    return kept;
  }

  function report(kept: Kept, kind: MailKind, part: 'subject' | 'template', error: unknown): void {
    if (kept.isReported) return;
    kept.isReported = true;
    const facts = mailKinds[kind];
    const setting = part === 'subject' ? facts.subjectSetting : facts.templateSetting;
    log.error(
      { setting: `AUTHSVC_${setting}`, kind, reason: (error as Error).message },
      `a mail's ${part} cannot be used; the built-in one is sent`,
    );
  }

  function write(
    kept: Kept | undefined,
    kind: MailKind,
    part: 'subject' | 'template',
    writeWith: (template: Template) => string,
  ): string | undefined {
    if (kept?.template === undefined) return undefined;
    try {
      return writeWith(kept.template);
    } catch (error) {
      report(kept, kind, part, error);
      return undefined;
    }
  }

  async function read(slot: Slot, kind: MailKind): Promise<void> {
    const now = clock.now().getTime();
    try {
      const source = await slot.from.read({
        maxBytes: settings.MAILER_TEMPLATE_MAX_SIZE,
        timeoutMs: READ_TIMEOUT_MS,
      });
      if (slot.from.isGuess && !source.includes('{{')) {
        throw new Error('it says nothing of the mail: the site seems to answer with a page of its own');
      }
      if (slot.kept?.source !== source) slot.kept = keep(source, kind, 'template');
      slot.nextReadAt = now + settings.MAILER_TEMPLATE_MAX_AGE;
    } catch (error) {
      slot.nextReadAt = now + settings.MAILER_TEMPLATE_RETRY_INTERVAL;
      log.warn(
        {
          setting: `AUTHSVC_${mailKinds[kind].templateSetting}`,
          kind,
          reason: (error as Error).message,
          sentInstead: slot.kept === undefined ? 'the built-in one' : 'the one of before',
        },
        'a mail template could not be had',
      );
    }
  }

  /** Mails of one kind share a read; the signal of one of them must not end it for the others. */
  async function current(kind: MailKind): Promise<Kept | undefined> {
    const slot = slots.get(kind);
    if (slot === undefined) return undefined;
    if (clock.now().getTime() >= slot.nextReadAt) {
      slot.reading ??= read(slot, kind).finally(() => {
        slot.reading = undefined;
      });
      await slot.reading;
    }
    return slot.kept;
  }

  return {
    async render(kind, data, signal) {
      signal.throwIfAborted();
      const variables = templateVariables(kind, data);
      const kept = await current(kind);
      signal.throwIfAborted();
      const subject = write(subjects.get(kind), kind, 'subject', (one) => writeLine(one, variables));
      const html =
        write(kept, kind, 'template', (one) => writeHtml(one, variables)) ??
        writeHtml(readTemplate(builtInTemplate(kind)), variables);
      return mailText(subject || mailKinds[kind].defaultSubject, html);
    },
  };
}
