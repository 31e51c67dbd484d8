import { onwardPage, type Page, questionPage, siteOf } from '@croft/http';
import { describeScopes } from '../rules/oauth/wanted-scopes.ts';
import type { Fields, Question, Refusal } from './read-question.ts';

/** What a program sent with its question, to come back with the answer. */
const ASKED = [
  'client_id',
  'redirect_uri',
  'response_type',
  'state',
  'scope',
  'code_challenge',
  'code_challenge_method',
];

/** The question that a person is asked, and why the last answer was of no use. */
export function askingPage(question: Question, asked: Fields, complaint?: string): Page {
  const { application, redirectUri, scopes } = question;
  const { name, owner } = application;
  const origin =
    owner === null ? 'Every forge of this kind knows it.' : `It was registered here by the account ${owner}.`;
  return questionPage({
    heading: `Sign in to ${name}`,
    text: [
      ...(complaint === undefined ? [] : [`That did not work: ${complaint}.`]),
      `The application ${name} wants to know who you are and to act for you. ${origin}`,
      describeScopes(scopes),
      `You are sent to ${siteOf(redirectUri)} afterwards.`,
    ],
    action: 'grant',
    fields: carriedOf(asked),
    inputs: [
      {
        name: 'user_name',
        label: 'User name or e-mail address',
        isSecret: false,
        autocomplete: 'username',
        value: asked['user_name'] ?? '',
      },
      {
        name: 'password',
        label: 'Password, or an access token of the auth service',
        isSecret: true,
        autocomplete: 'current-password',
      },
    ],
    buttons: BUTTONS,
  });
}

/**
 * The second step, for who has a second factor: his password was right.
 * @param step what the form carries of the first one
 */
export function codePage(question: Question, asked: Fields, step: string, complaint?: string): Page {
  const { application, redirectUri, scopes } = question;
  return questionPage({
    heading: `Sign in to ${application.name}`,
    text: [
      ...(complaint === undefined ? [] : [`That did not work: ${complaint}.`]),
      `Your account has a second factor. To allow ${application.name} what it asked for, type the code that your authenticator app shows, or a recovery code.`,
      'Codes that are sent to a phone are not taken here: who has only those signs in with an access token of the auth service in place of the password.',
      describeScopes(scopes),
      `You are sent to ${siteOf(redirectUri)} afterwards.`,
    ],
    action: 'grant',
    fields: { ...carriedOf(asked), step },
    inputs: [{ name: 'code', label: 'Code', isSecret: false, autocomplete: 'one-time-code' }],
    buttons: BUTTONS,
  });
}

const BUTTONS = [
  { label: 'Allow', name: 'decision', value: 'allow' },
  { label: 'Do not allow', name: 'decision', value: 'deny' },
];

const carriedOf = (asked: Fields): Record<string, string> =>
  Object.fromEntries(ASKED.flatMap((key) => (asked[key] === undefined ? [] : [[key, asked[key]]])));

/** Told to a person, as the program cannot be. */
export const deadPage = (reason: string): Page =>
  questionPage({ heading: 'This sign-in does not work', text: reason, action: '', buttons: [] });

/**
 * Told to a person, who may go on and tell the program. Nobody is sent there by himself: anybody can register a program, and a link here
 * that leads to it at once would borrow our name (RFC 9700 §4.11.2).
 */
export const refusalPage = ({ application, description, location }: Refusal): Page =>
  onwardPage({
    heading: 'This sign-in does not work',
    text: `What ${application.name} sent cannot be read as a question: ${description}.`,
    target: location,
    isAtOnce: false,
  });

/** Takes the answer to the program. */
export const answerPage = ({ application }: Question, target: string, isAtOnce: boolean): Page =>
  onwardPage({
    heading: `Back to ${application.name}`,
    text: 'The application is told what you decided.',
    target,
    isAtOnce,
  });
