-- Messages wallets signed to sign in with: each is good for one sign-in, until it is too old to be taken anyway.
-- Written ahead like other tables: what a crash forgot could be replayed.
create table :schema.web3_messages (
  message_hash bytea primary key,
  expires_at timestamptz not null
);
create index web3_messages_expires_at on :schema.web3_messages (expires_at);
alter table :schema.web3_messages enable row level security;
