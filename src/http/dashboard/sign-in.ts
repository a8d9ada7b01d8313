/** How a browser stays signed in. Covered by test/http/dashboard/sign-in.test.ts. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../errors.ts';
import { cookieName, tokenOf } from '../auth.ts';
import type { SignIns } from '../dependencies.ts';

/**
 * POST /dashboard/session: a key opens a sign-in, whose token the browser keeps in a cookie that no script can read.
 * DELETE ends it. Both need a header that no other site can send, and the cookie goes with no request of another site.
 */
export function registerSignIn(scope: FastifyInstance, signIns: SignIns): void {
  const config = { scope: null, isBodiless: true } as const;
  scope.post('/dashboard/session', { config }, async (request, reply) => {
    const key = request.headers['x-api-key'];
    const signIn = typeof key === 'string' ? await signIns.open(key) : null;
    // Who is signed in already has no key to open another one with.
    if (signIn === null) throw new AppError('MISSING_API_KEY', 'The x-api-key header is required.');
    const seconds = Math.floor((signIn.endsAt - Date.now()) / 1000);
    void reply.header('Set-Cookie', cookie(request, signIn.token, seconds));
    return { endsAt: new Date(signIn.endsAt).toISOString() };
  });
  scope.delete('/dashboard/session', { config }, async (request, reply): Promise<FastifyReply> => {
    const token = tokenOf(request);
    if (token !== null) await signIns.close(token);
    return reply
      .header('Set-Cookie', cookie(request, '', 0))
      .code(204)
      .send();
  });
}

function cookie(request: FastifyRequest, value: string, seconds: number): string {
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}`;
  return `${cookieName(request)}=${value}; ${attributes}${request.protocol === 'https' ? '; Secure' : ''}`;
}
