/**
 * Reads the version of this package from package.json.
 *
 * Test: test/web/docs.test.ts, test/web/mcp-route.test.ts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = join(import.meta.dirname, '../../package.json');

export const SERVICE_VERSION = (JSON.parse(readFileSync(FILE, 'utf8')) as { readonly version: string })
  .version;
