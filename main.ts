import { resolveSources } from './launcher/resolve-sources.ts';

resolveSources();
const { main } = await import('./launcher/main.ts'); // after it, and everything else through this
process.exit(await main());
