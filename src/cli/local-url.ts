/** Where commands reach a running service. Covered by test/cli/local-url.test.ts and test/cli/import.test.ts. */
import { loadConfig, readEnvironment, type Config } from '../config.ts';
import { UsageError } from './command.ts';

/** Where a command on the same machine reaches the web process of this configuration. */
export function localUrl({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  if (everywhere) return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Options of every command that asks a running service. */
export const ACCESS_OPTIONS = { url: { type: 'string' }, key: { type: 'string' } } as const;

/** Address and key: as given, else of the environment. Throws UsageError. */
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
