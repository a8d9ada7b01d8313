import type { Config } from '../config.ts';

/** Where a command on the same machine reaches the web process of this configuration. */
export function localUrl({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  if (everywhere) return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
