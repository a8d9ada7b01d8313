/** Covered by test/http/docs.test.ts. */
import swagger from '@fastify/swagger';
import type { StaticDocumentSpec } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { createOpenApiDocument } from './openapi.ts';

/** The page may load from this process only, whatever it is given to show. */
const CONTENT_POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'";

/** Our own name in place of the page's maker's. */
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" width="150" height="40" viewBox="0 0 150 40"><text x="4" y="27" ' +
  'font-family="sans-serif" font-size="22" fill="#fff">Undertone</text></svg>';

/** /openapi.json, and /docs: a page to read and try it, all of it served from here. */
export async function registerDocsRoutes(
  app: FastifyInstance,
  served: { readonly ingest: boolean; readonly query: boolean },
): Promise<void> {
  const document = createOpenApiDocument(served);
  app.get('/openapi.json', async (_request, reply) => reply.type('application/json').send(document));
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('Content-Security-Policy', CONTENT_POLICY);
  });
  await app.register(swagger, {
    mode: 'static',
    // The plugin's types end at OpenAPI 3.0; in this mode it hands the document on as it is.
    specification: { document: document as object as StaticDocumentSpec['document'] },
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { deepLinking: true, tryItOutEnabled: true },
    theme: { title: 'Undertone API', favicon: [] },
    logo: { type: 'image/svg+xml', content: Buffer.from(LOGO), href: '/docs', target: '_self' },
  });
}
