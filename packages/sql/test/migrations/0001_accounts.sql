create table :schema.accounts (
  id bigint generated always as identity primary key,
  name text not null unique,
  balance integer not null
);
