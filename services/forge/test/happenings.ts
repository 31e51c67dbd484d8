import type { Scene } from './forge.ts';

/** Keeps what is announced in a table `told`: the outbox itself is worked off at once. */
export async function recordHappenings(scene: Pick<Scene, 'sql'>): Promise<void> {
  await scene.sql.script(`
    create table forge.told (id bigint generated always as identity, payload jsonb not null);
    create function forge.tell() returns trigger language plpgsql as $$
    begin
      insert into forge.told (payload) values (new.payload);
      return null;
    end $$;
    create trigger tell after insert on forge.outbox for each row when (new.topic = 'happening')
      execute function forge.tell()`);
}
