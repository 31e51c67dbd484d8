import { type Answer, objectOf, objectsOf, textOf } from '../answers.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';

const LINKEDIN = 'https://api.linkedin.com';
const PROFILE = '(id,firstName,lastName,profilePicture(displayImage~:playableStreams))';
const EMAILS = 'q=members&projection=(elements*(handle~))';

/** LinkedIn's interface of before OpenID Connect; new applications use `linkedin_oidc`. */
export function linkedin(client: Client): OAuth2 {
  const base = client.url ?? LINKEDIN;
  return {
    endpoints: () => ({ authorize: `${base}/oauth/v2/authorization`, token: `${base}/oauth/v2/accessToken` }),
    scopes: ['r_emailaddress', 'r_liteprofile'],
    secretIn: 'body',
    async person({ get }) {
      const user = objectOf(await get(`${base}/v2/me?projection=${PROFILE}`));
      const emails = objectOf(await get(`${base}/v2/emailAddress?${EMAILS}`));
      const [first = {}] = objectsOf(emails['elements']);
      const given_name = localized(user['firstName']);
      const family_name = localized(user['lastName']);
      return describe({
        issuer: LINKEDIN,
        subject: user['id'],
        name: `${given_name} ${family_name}`.trim(),
        picture: pictureIn(objectOf(user['profilePicture'])),
        emails: onlyEmail(objectOf(first['handle~'])['emailAddress'], true),
        more: { given_name, family_name },
      });
    },
  };
}

/** `{"localized":{"en_US":"Ada"},"preferredLocale":{"country":"US","language":"en"}}` */
function localized(value: unknown): string {
  const { localized: texts, preferredLocale } = objectOf(value);
  const { language, country } = objectOf(preferredLocale);
  return textOf(objectOf(texts)[`${textOf(language)}_${textOf(country)}`]);
}

function pictureIn(picture: Answer): string {
  const [element = {}] = objectsOf(objectOf(picture['displayImage~'])['elements']);
  const [identifier = {}] = objectsOf(element['identifiers']);
  return textOf(identifier['identifier']);
}
