import type { Context } from '../context.ts';
import { type CodeChallenge, readChallenge } from '../rules/oauth/code-challenge.ts';
import { isRegistered, withAnswer } from '../rules/oauth/redirect-uri.ts';
import { wantedScopes } from '../rules/oauth/wanted-scopes.ts';
import { type Application, findApplication } from './find-application.ts';

/** The texts of a request. None of them is kept as it comes: what is, was held against a list or a pattern, or is a hash. */
export type Fields = Readonly<Record<string, string>>;

/** What a program wants from a person, whom it sent here to be asked (RFC 6749 §4.1.1). */
export interface Question {
  application: Application;
  /** Where the answer goes. */
  redirectUri: string;
  /** The address as the program gave it. */
  givenRedirectUri: string | null;
  state: string | undefined;
  scopes: string[];
  challenge: CodeChallenge | undefined;
}

/**
 * What comes of a request: a question for a person; a refusal that the program is told; or one that only the person can be told, as it
 * is not known that the program may be sent there (RFC 6749 §4.1.2.1).
 */
export type Reading = { question: Question } | Refusal | { dead: string };

/** What a program is told at `location`, and why. */
export interface Refusal {
  application: Application;
  location: string;
  description: string;
}

/** Reads what a program asks for. */
export async function readQuestion(context: Context, fields: Fields): Promise<Reading> {
  const { client_id: clientId = '', redirect_uri: given = '', state } = fields;
  const application = await findApplication(context, clientId);
  if (application === undefined) {
    return { dead: 'No application has this client_id here. Whoever runs it has to register it.' };
  }
  const { is_confidential: isConfidential, redirect_uris: redirectUris } = application;
  const [only = '', ...others] = redirectUris;
  const redirectUri = given === '' && others.length === 0 ? only : given;
  if (!isRegistered(redirectUri, { isConfidential, redirectUris })) {
    return {
      dead: `${application.name} asks to be answered at an address that is not registered for it (redirect_uri).`,
    };
  }
  const refuse = (error: string, description: string): Reading => ({
    application,
    description,
    location: withAnswer(redirectUri, { error, error_description: description, state }),
  });
  if (fields['response_type'] !== 'code')
    return refuse('unsupported_response_type', 'response_type must be code');
  const { code_challenge: text = '', code_challenge_method: method = '' } = fields;
  const challenge = readChallenge(text, method);
  if (challenge === 'malformed')
    return refuse('invalid_request', 'code_challenge or code_challenge_method is malformed');
  if (challenge === undefined && !isConfidential)
    return refuse('invalid_request', 'PKCE is required for public clients');
  return {
    question: {
      application,
      redirectUri,
      givenRedirectUri: given === '' ? null : given,
      state,
      scopes: wantedScopes(fields['scope'] ?? ''),
      challenge,
    },
  };
}
