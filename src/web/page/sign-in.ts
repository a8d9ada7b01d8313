/**
 * Routes that sign a browser in and out of the dashboard.
 *
 * Test: test/web/page/sign-in.test.ts.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SIGN_IN_PATH } from '../../domain/page-sign-in.ts';
import { AppError } from '../../errors.ts';
import { recordAudit } from '../routes/audit-route.ts';
import { cookieName, tokenOf } from '../auth.ts';
import type { SignIns } from '../dependencies.ts';

/**
 * POST /dashboard/session exchanges a key for a sign-in, whose token goes into a cookie that no script can read; DELETE
 * ends it. Both need a header that no other site can send, and the browser sends the cookie with no request of another
 * site.
 */
export function registerSignIn(scope: FastifyInstance, signIns: SignIns): void {
  const config = { scope: null, instance: 'own', isBodiless: true } as const;
  scope.post(SIGN_IN_PATH, { config }, async (request, reply) => {
    const key = request.headers['x-api-key'];
    if (typeof key === 'string') await recordAudit(request, 'SIGN_IN');
    const signIn = typeof key === 'string' ? await signIns.open(key) : null;
    // A sign-in cannot open another one, which would outlive it.
    if (signIn === null) throw new AppError('MISSING_API_KEY', 'The x-api-key header is required.');
    void reply.header('Set-Cookie', cookie(request, signIn.token, signIn.endsAt));
    return { endsAt: new Date(signIn.endsAt).toISOString() };
  });
  scope.delete(SIGN_IN_PATH, { config }, async (request, reply): Promise<FastifyReply> => {
    const token = tokenOf(request);
    if (token !== null) {
      await recordAudit(request, 'SIGN_OUT');
      await signIns.close(token);
    }
    return reply
      .header('Set-Cookie', cookie(request, '', 0))
      .code(204)
      .send();
  });
}

function cookie(request: FastifyRequest, value: string, endsAt: number): string {
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Expires=${new Date(endsAt).toUTCString()}`;
  return `${cookieName(request)}=${value}; ${attributes}${request.protocol === 'https' ? '; Secure' : ''}`;
}
