import { GoTrueClient } from '@supabase/auth-js';
import { createClient } from '@supabase/supabase-js';

// What runs in the browser: the two libraries as applications bundle them.

/** How a page is asked to make its client. */
export interface PageOptions {
  url: string;
  flowType: 'implicit' | 'pkce';
  /** A key makes it the client of `createClient`, on the address of a gateway. */
  key?: string;
}

/** Names the test calls from outside. */
interface AppPage {
  start(this: void, options: PageOptions): void;
  readonly auth: GoTrueClient;
  readonly events: readonly string[];
}

function make({ url, flowType, key }: PageOptions): GoTrueClient {
  const options = { flowType, autoRefreshToken: false, storageKey: 'session' };
  if (key !== undefined) return createClient(url, key, { auth: options }).auth;
  return new GoTrueClient({ url, ...options });
}

const events: string[] = [];
let client: GoTrueClient | undefined;

declare global {
  // oxlint-disable-next-line no-var -- what a script puts on the page
  var page: AppPage;
}
globalThis.page = {
  start(options) {
    client = make(options);
    client.onAuthStateChange((event) => void events.push(event));
  },
  get auth() {
    if (client === undefined) throw new Error('the page was not started');
    return client;
  },
  events,
};
