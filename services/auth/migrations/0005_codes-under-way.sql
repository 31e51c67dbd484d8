-- What 0003 could not know of the codes that were under way when it was applied: how long they live is a setting, and
-- the links of their mails are made of the code itself, so its hash is the link's as well. One that was guessed at too
-- often stays spent.
update :schema.one_time_tokens set
  expires_at = created_at + interval '1 millisecond'
    * coalesce(nullif(current_setting('croft.mailer_otp_exp_ms', true), '')::float8, 86400000),
  link_hash = case when wrong_guesses < 10 then token_hash end
where token_type = 'confirmation_token' and link_hash is null and relates_to like '%@%'
  and created_at <= (select applied_at from :schema.croft_migrations where name = '0003_flows');
