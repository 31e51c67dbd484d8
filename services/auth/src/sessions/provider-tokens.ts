import type { AuthContext } from '../context.ts';

/** Tokens of an external provider for the client's own requests to it. */
export interface ProviderTokens {
  access: string;
  refresh?: string | undefined;
}

/** Seals them for a row that waits. */
export function sealProviderTokens({ atRest }: AuthContext, tokens: ProviderTokens): string {
  return atRest.seal(JSON.stringify(tokens));
}

/** Opens them again; undefined when there are none, or when they were sealed with another key. */
export function openProviderTokens(
  { atRest }: AuthContext,
  sealed: string | null,
): ProviderTokens | undefined {
  if (sealed === null) return undefined;
  try {
    return JSON.parse(atRest.open(sealed)) as ProviderTokens;
  } catch {
    return undefined;
  }
}
