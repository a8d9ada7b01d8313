/**
 * Serves the dashboard at `/`. Its script and style are bundled in memory; it calls the public API with its reader's
 * own sign-in.
 *
 * Test: test/web/page/page.test.ts.
 */
import { join } from 'node:path';
import { build } from 'esbuild';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../auth.ts';
import { keepFile, once, sendFile, type KeptFile } from '../kept-file.ts';

/** The page loads from this process only, and sends to it only. */
const CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const CLIENT = join(import.meta.dirname, 'client');

const SHELL = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Undertone</title>
<link rel="icon" href="/dashboard/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/dashboard/page.css">
<script type="module" src="/dashboard/page.js"></script>
</head>
<body>
<div id="page">
<header class="bar"><span class="brand">Undertone</span></header>
<main><div class="loading"><div class="skeleton"></div><div class="skeleton"></div></div></main>
</div>
<noscript>This page needs JavaScript. The same numbers are at /v1; /docs describes how to ask for them.</noscript>
</body>
</html>
`;

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2f5d8a"/>' +
  '<path d="M6 20c4-11 6-11 10 0s6 4 10-6" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>';

/** Bundles the page's script and style from the sources; writes nothing to disk. */
export async function bundlePage(): Promise<Readonly<Record<'page.js' | 'page.css', Buffer>>> {
  const { outputFiles } = await build({
    entryPoints: { page: join(CLIENT, 'main.tsx') },
    bundle: true,
    write: false,
    outdir: '/',
    format: 'esm',
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: {},
    logLevel: 'silent',
  });
  const fileOf = (ending: string): Buffer => {
    const file = outputFiles.find(({ path }) => path.endsWith(ending));
    if (file === undefined) throw new Error(`the page has no ${ending}`);
    return Buffer.from(file.contents);
  };
  return { 'page.js': fileOf('.js'), 'page.css': fileOf('.css') };
}

export function registerDashboard(app: FastifyInstance): void {
  const files = once(makeFiles);
  const send = async (request: FastifyRequest, reply: FastifyReply, name: string): Promise<unknown> => {
    const file = (await files()).get(name);
    if (file === undefined) throw notFound(request);
    void reply.header('Content-Security-Policy', CONTENT_POLICY).header('Referrer-Policy', 'no-referrer');
    return sendFile(request, reply, file);
  };
  app.get('/', (request, reply) => send(request, reply, 'index.html'));
  app.get<{ Params: { name: string } }>('/dashboard/:name', (request, reply) =>
    send(request, reply, request.params.name),
  );
}

async function makeFiles(): Promise<ReadonlyMap<string, KeptFile>> {
  const bundle = await bundlePage();
  const files: readonly (readonly [name: string, type: string, body: Buffer])[] = [
    ['index.html', 'text/html; charset=utf-8', Buffer.from(SHELL)],
    ['icon.svg', 'image/svg+xml', Buffer.from(ICON)],
    ['page.js', 'text/javascript; charset=utf-8', bundle['page.js']],
    ['page.css', 'text/css; charset=utf-8', bundle['page.css']],
  ];
  const kept = files.map(async ([name, type, body]) => [name, await keepFile(type, body)] as const);
  return new Map(await Promise.all(kept));
}
