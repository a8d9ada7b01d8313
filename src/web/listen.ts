/**
 * Starts to listen.
 *
 * Test: test/main/web.test.ts.
 */
import { SetupError } from '../errors.ts';
import type { createApp } from './app.ts';

/**
 * Returns the address at which a caller on this machine reaches the app. Throws SetupError with the reason when the
 * address is not available.
 */
export async function listen(
  app: ReturnType<typeof createApp>,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  try {
    const address = await app.listen({ host, port });
    return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    switch (code) {
      case 'EADDRINUSE':
        throw new SetupError(
          `Port ${port} of ${host} is taken: stop what uses it, or set PORT to another one.`,
        );
      case 'EACCES':
        throw new SetupError(
          `Port ${port} of ${host} may not be opened by this user: set PORT to 1024 or above.`,
        );
      case 'EADDRNOTAVAIL':
      case 'ENOTFOUND':
      case 'EAI_AGAIN':
        throw new SetupError(`HOST ${host} is no address of this machine: set HOST to one (${message}).`);
      default:
        throw error;
    }
  }
}
