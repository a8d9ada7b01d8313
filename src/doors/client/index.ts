/**
 * `undertone/client`: ingest and query from JavaScript and TypeScript (docs/client.md).
 *
 * Test: test/doors/client/package.test.ts.
 */
/// <reference lib="esnext.disposable" preserve="true" />
export { Undertone } from './undertone.ts';
export type { UndertoneOptions } from './options.ts';
export type { Extra, Session, SessionOptions } from './session.ts';
export { sessionIdOf } from './session-id.ts';
export { UndertoneError, type ClientErrorCode, type ErrorDetail, type ServiceErrorCode } from './errors.ts';
export type { Flushed, Lost } from './outbox.ts';
export type { Fetch, Retry } from './transport.ts';
export type * from './answers.ts';
export type * from './groupings.ts';
export type { CallOptions, DateRange, Page, Query, ReadOptions, Row, Segment, Waited } from './queries.ts';
