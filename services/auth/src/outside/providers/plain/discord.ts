import { type Answer, isTrue, objectOf, pathPart, textOf } from '../answers.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';

const DISCORD = 'https://discord.com';
const PICTURES = 'https://cdn.discordapp.com';

/** Discord: accounts of today have no discriminator any more, which it tells as `0`. */
export function discord(client: Client): OAuth2 {
  const base = client.url ?? DISCORD;
  return {
    endpoints: () => ({ authorize: `${base}/api/oauth2/authorize`, token: `${base}/api/oauth2/token` }),
    scopes: ['email', 'identify'],
    secretIn: 'body',
    pkce: true,
    async person({ get }) {
      const user = objectOf(await get(`${base}/api/users/@me`));
      const name = textOf(user['username']);
      const discriminator = textOf(user['discriminator']);
      const { global_name } = user;
      return describe({
        issuer: `${DISCORD}/api`,
        subject: user['id'],
        name: hasDiscriminator(discriminator) ? `${name}#${discriminator}` : name,
        fullName: name,
        picture: pictureOf(user, discriminator),
        emails: onlyEmail(user['email'], isTrue(user['verified'])),
        more: { custom_claims: textOf(global_name) === '' ? undefined : { global_name } },
      });
    },
  };
}

const hasDiscriminator = (discriminator: string): boolean => /^[1-9]\d*$|^0\d+$/.test(discriminator);

function pictureOf(user: Answer, discriminator: string): string {
  const id = textOf(user['id']);
  const avatar = textOf(user['avatar']);
  if (avatar !== '') {
    const extension = avatar.startsWith('a_') ? 'gif' : 'png';
    return `${PICTURES}/avatars/${pathPart(id)}/${pathPart(avatar)}.${extension}`;
  }
  const index = hasDiscriminator(discriminator) ? Number(discriminator) % 5 : newDefault(id);
  return `${PICTURES}/embed/avatars/${index}.png`;
}

/** Without a discriminator the time in the id chooses among six pictures. */
function newDefault(id: string): number {
  return /^\d{1,20}$/.test(id) ? Number((BigInt(id) >> 22n) % 6n) : 0;
}
