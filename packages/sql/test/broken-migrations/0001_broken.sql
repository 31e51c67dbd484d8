create table :schema.fine (id int); nonsense;
