import { generatedFiles } from './generated-files.ts';

await generatedFiles({ write: true });
