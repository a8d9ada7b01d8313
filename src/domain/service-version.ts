/** Covered by test/web/docs.test.ts and test/web/mcp-route.test.ts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = join(import.meta.dirname, '../../package.json');

/** The version of this package. */
export const SERVICE_VERSION = (JSON.parse(readFileSync(FILE, 'utf8')) as { readonly version: string })
  .version;
