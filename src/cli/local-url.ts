/**
 * Address and key of the running service that a command calls.
 *
 * Test: test/cli/local-url.test.ts.
 */
import { loadConfig, readEnvironment, type Config } from '../config.ts';
import { UsageError } from './command.ts';

/** Returns the address of this configuration's web process on this machine. */
export function localUrl({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  if (everywhere) return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Options of every command that calls a running service. */
export const ACCESS_OPTIONS = { url: { type: 'string' }, key: { type: 'string' } } as const;

/** Returns address and key from the options, otherwise from the environment. Throws UsageError. */
export function accessOf(given: { readonly url?: string; readonly key?: string }): {
  readonly url: string;
  readonly key: string;
} {
  const env = readEnvironment();
  const url = given.url ?? (env['UNDERTONE_URL'] || localUrl(loadConfig()));
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`--url: "${url}" is not an http address.`);
  const key = given.key ?? env['UT_KEY'] ?? '';
  if (key !== '') return { url, key };
  throw new UsageError(
    'No API key. Make one with "npm run keys -- create --project default", then set UT_KEY or give --key. ' +
      '(The first "npm start" shows one too.)',
  );
}
