/** Lets TypeScript accept imports of style sheets, which esbuild bundles. */
declare module '*.css';
