/**
 * Routes of /openapi.json and /docs, a page to read and try the API. Everything is served by this process.
 *
 * Test: test/web/docs.test.ts, test/web/open-routes.test.ts.
 */
import swagger from '@fastify/swagger';
import type { StaticDocumentSpec } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { notFound } from '../auth.ts';
import { keepFile, once, sendFile, type KeptFile } from '../kept-file.ts';
import { createOpenApiDocument } from '../openapi.ts';

/** The page may load from this process only, whatever the document contains. */
const CONTENT_POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'";

/** Replaces the logo of swagger-ui. */
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" width="150" height="40" viewBox="0 0 150 40"><text x="4" y="27" ' +
  'font-family="sans-serif" font-size="22" fill="#fff">Undertone</text></svg>';

/** Paths below /docs that swagger-ui serves. */
const PAGE_PATHS = [
  '',
  '/',
  '/json',
  '/yaml',
  '/static/index.css',
  '/static/swagger-ui.css',
  '/static/swagger-ui-bundle.js',
  '/static/swagger-ui-standalone-preset.js',
  '/static/swagger-initializer.js',
  '/static/oauth2-redirect.html',
  '/static/oauth2-redirect.js',
];

export function registerDocsRoutes(
  app: FastifyInstance,
  served: { readonly ingest: boolean; readonly query: boolean },
): void {
  const document = createOpenApiDocument(served);
  const json = once(() => keepFile('application/json; charset=utf-8', Buffer.from(JSON.stringify(document))));
  const maker = once(() => createPageMaker(document));
  const files = new Map(PAGE_PATHS.map((path) => [path, once(async () => made(await maker(), path))]));
  const sendPage = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const [path = ''] = request.url.slice('/docs'.length).split('?', 1);
    const file = files.get(path);
    // Exact match on the raw path, so that no path can lead outside.
    if (file === undefined) throw notFound(request);
    return sendFile(request, reply.header('Content-Security-Policy', CONTENT_POLICY), await file());
  };
  app.get('/openapi.json', async (request, reply) => sendFile(request, reply, await json()));
  app.get('/docs', sendPage);
  app.get('/docs/*', sendPage);
}

/** Makes the app that renders the page. It is not exposed, because it reads a file for each request. */
async function createPageMaker(document: object): Promise<FastifyInstance> {
  const maker = fastify({ logger: false });
  await maker.register(swagger, {
    mode: 'static',
    // The plugin's types end at OpenAPI 3.0; in static mode it passes the document through.
    specification: { document: document as StaticDocumentSpec['document'] },
  });
  await maker.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { deepLinking: true, tryItOutEnabled: true },
    theme: { title: 'Undertone API', favicon: [] },
    logo: { type: 'image/svg+xml', content: Buffer.from(LOGO), href: '/docs', target: '_self' },
  });
  return maker;
}

async function made(maker: FastifyInstance, path: string): Promise<KeptFile> {
  const { statusCode, headers, rawPayload } = await maker.inject({ url: `/docs${path}` });
  if (statusCode !== 200) throw new Error(`the page of the interface has no ${path}: status ${statusCode}`);
  return keepFile(String(headers['content-type']), rawPayload);
}
