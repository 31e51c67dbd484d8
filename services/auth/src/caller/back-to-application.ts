import { onwardPage, type Page } from '@croft/http';

/** What answers a form of ours in place of a redirect, which the form's policy would stop where the application redirects further. */
export function backToApplication(target: string): Page {
  return onwardPage({
    heading: 'Back to the application',
    text: 'You are sent on.',
    target,
    isAtOnce: true,
  });
}
