-- When a sign-up with the address was last answered with "a mail is on its way", be it true or not. Unlike
-- confirmation_sent_at it moves for confirmed accounts as well, so that the limit of mails does not tell them apart.
alter table :schema.users add column signup_answered_at timestamptz;
