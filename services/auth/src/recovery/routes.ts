import type { App } from '@croft/http';
import { z } from 'zod';
import { originOf, redirectWishOf } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { requestPhoneCode } from '../phone/request-phone-code.ts';
import { resendSms } from '../phone/resend-sms.ts';
import { lenientBody, objectField, queryText, textField } from '../requests.ts';
import { errorBody } from '../responses.ts';
import { readChallenge } from '../rules/codes/code-challenge.ts';
import { checkMagicLinks, requestMagicLink } from './request-magic-link.ts';
import { requestRecovery } from './request-recovery.ts';
import { checkResend, resendMail } from './resend.ts';

const emptyBody = z.object({}).meta({ description: 'The same whether or not the address has an account' });
const messageBody = z.object({ message_id: z.string() });
const refusals = { 400: errorBody, 422: errorBody, 429: errorBody };
/** A code challenge (RFC 7636): the link in the mail then ends in a code that only its verifier can use. */
const challengeFields = { code_challenge: textField, code_challenge_method: textField };
const redirectQuery = z.object({ redirect_to: queryText });

/** POST /recover, /magiclink, /otp and /resend */
export function recoveryRoutes(app: App, context: AuthContext): void {
  app.post(
    '/recover',
    {
      config: { limit: 'recover', captcha: true },
      schema: {
        summary: 'Mail a link to set a new password',
        tags: ['recovery'],
        querystring: redirectQuery,
        body: lenientBody({ email: textField, ...challengeFields }),
        response: { 200: emptyBody, ...refusals },
      },
    },
    async (request) => {
      const challenge = readChallenge(request.body);
      const redirect = redirectWishOf(request, request.query.redirect_to);
      await requestRecovery(context, {
        email: request.body.email,
        redirect,
        challenge,
        origin: originOf(request),
      });
      return {};
    },
  );

  app.post(
    '/magiclink',
    {
      config: { limit: 'magiclink', captcha: true },
      schema: {
        summary: 'Mail a link that signs in',
        tags: ['recovery'],
        querystring: redirectQuery,
        body: lenientBody({ email: textField, data: objectField, ...challengeFields }),
        response: { 200: emptyBody, ...refusals },
      },
    },
    async (request) => {
      const { email, data } = request.body;
      checkMagicLinks(context);
      if (email === '') throw failures.magicLinkEmailMissing();
      const challenge = readChallenge(request.body);
      const redirect = redirectWishOf(request, request.query.redirect_to);
      await requestMagicLink(context, {
        email,
        data,
        createsUser: true,
        redirect,
        challenge,
        origin: originOf(request),
      });
      return {};
    },
  );

  app.post(
    '/otp',
    {
      config: { limit: 'otp', captcha: true },
      schema: {
        summary: 'Send a code that signs in',
        description: 'By mail with `email`, by SMS with `phone`.',
        tags: ['recovery'],
        querystring: redirectQuery,
        body: lenientBody({
          email: textField,
          phone: textField,
          channel: textField,
          data: objectField,
          create_user: z.boolean().nullish(),
          ...challengeFields,
        }),
        response: { 200: z.union([messageBody, emptyBody]), ...refusals },
      },
    },
    async (request) => {
      const { email, phone, channel, data, create_user: wish } = request.body;
      const createsUser = wish ?? true;
      if (email !== '' && phone !== '') throw failures.codeAddressAmbiguous();
      if (email !== '' && channel !== '') throw failures.channelWithoutPhone();
      const challenge = readChallenge(request.body);
      if (email === '' && phone === '') throw failures.codeAddressMissing();
      const origin = originOf(request);
      if (phone !== '') {
        return { message_id: await requestPhoneCode(context, { phone, channel, data, createsUser, origin }) };
      }
      checkMagicLinks(context);
      const redirect = redirectWishOf(request, request.query.redirect_to);
      await requestMagicLink(context, { email, data, createsUser, redirect, challenge, origin });
      return {};
    },
  );

  app.post(
    '/resend',
    {
      config: { limit: 'resend', captcha: true },
      schema: {
        summary: 'Send a message once more',
        tags: ['recovery'],
        querystring: redirectQuery,
        body: lenientBody({ type: textField, email: textField, phone: textField, ...challengeFields }),
        response: { 200: messageBody, ...refusals },
      },
    },
    async (request) => {
      const redirect = redirectWishOf(request, request.query.redirect_to);
      const { type, email, phone } = request.body;
      const origin = originOf(request);
      checkResend(context, { type, email, phone });
      const challenge = readChallenge(request.body);
      const messageId =
        phone === ''
          ? await resendMail(context, { type, email, redirect, challenge, origin })
          : await resendSms(context, { type: type === 'phone_change' ? type : 'sms', phone, origin });
      return { message_id: messageId };
    },
  );
}
