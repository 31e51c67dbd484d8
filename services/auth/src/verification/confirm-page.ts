import { type Page, questionPage } from '@croft/http';

/**
 * The page that asks before a link is used up: what follows every link of a mail, such as scanners, presses no button.
 * @param link the parameters of GET /verify
 */
export function confirmPage(link: URLSearchParams): Page {
  return questionPage({
    heading: 'Confirm that it is you',
    text: 'You followed a link from a mail. Press the button to go on.',
    action: `?${link.toString()}`,
  });
}
