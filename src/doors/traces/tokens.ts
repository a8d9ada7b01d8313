/**
 * Tokens: they stand for personal values and ids in spans that wait for their conversation, because placeholders have
 * numbers of a session, which a span's door does not know. Keeps the invariants that equal values of a project have
 * equal digests, and that a text which was not written here is never taken for a token.
 *
 * Layout: `[EMAIL:<digest>:<seal>]`. The digest is keyed. The seal authenticates kind and digest: a keyed digest of
 * them, or AES-256-GCM of the original where it may have to be read again.
 *
 * Test: test/doors/traces/tokens.test.ts.
 */
import { createHmac } from 'node:crypto';
import { MASKED_KINDS, type MaskedKind, type PersonalValue } from '../../domain/placeholders.ts';
import type { Registry } from '../../web/registry/registry.ts';
import { VALUE_DIGEST, valueDigest, valueKey } from '../../web/ingest/placeholder-number.ts';
import { IV_BYTES, open, seal } from './sealing.ts';

/** Keys of a project, base64url of 32 bytes. They may go to threads. */
export interface TokenKeys {
  readonly values: string;
  readonly seals: string;
}

/** The kind of a whole id. */
const WHOLE = 'WHOLE';
/** A seal without an original, base64url characters. */
const LEAST_SEAL = (IV_BYTES * 4) / 3;
const TOKEN_PATTERN = String.raw`\[(${[...MASKED_KINDS, WHOLE].join('|')}):([\w-]{${VALUE_DIGEST}}):([\w-]{${LEAST_SEAL},})\]`;
const TOKEN = new RegExp(TOKEN_PATTERN, 'u');
const TOKENS = new RegExp(TOKEN_PATTERN, 'gu');

export function tokenKeys(digest: Registry['maskDigest'], projectId: string): TokenKeys {
  return { values: valueKey(digest, projectId), seals: digest(['seals', projectId]) };
}

/** `original`: what the token can be opened to; '' if to nothing. */
export function tokenOf(
  value: Pick<PersonalValue, 'kind' | 'key'>,
  original: string,
  keys: TokenKeys,
): string {
  return write(value.kind, valueDigest(keys.values, value), original, keys);
}

/** Returns the token of a whole id, the same for the same id. */
export function sealedId(id: string, keys: TokenKeys): string {
  const digest = createHmac('sha256', keys.values).update(`${WHOLE} ${id}`).digest('base64url');
  return write(WHOLE, digest.slice(0, VALUE_DIGEST), id, keys);
}

/** Returns the id in a token; any other text as it is. */
export function openedId(id: string, keys: TokenKeys): string {
  const [whole, kind = '', digest = '', sealed = ''] = TOKEN.exec(id) ?? [];
  return whole === id && kind === WHOLE ? (opened(kind, digest, sealed, keys) ?? id) : id;
}

export function hasToken(text: string): boolean {
  return text.includes('[') && TOKEN.test(text);
}

/** Replaces the tokens in a text. `original`: '' if the token opens to nothing. */
export function fillTokens(
  text: string,
  keys: TokenKeys,
  fill: (kind: MaskedKind, digest: string, original: string) => string,
): string {
  if (!text.includes('[')) return text;
  return text.replace(TOKENS, (token: string, kind: string, digest: string, sealed: string) => {
    const original = kind === WHOLE ? null : opened(kind, digest, sealed, keys);
    return original === null ? token : fill(kind as MaskedKind, digest, original);
  });
}

/** Returns the text without seals: the same for a value that can be read again and one that cannot. */
export function withoutSeals(text: string): string {
  return text.includes('[') ? text.replace(TOKENS, '[$1:$2]') : text;
}

function write(kind: string, digest: string, original: string, keys: TokenKeys): string {
  const head = `${kind}:${digest}`;
  const iv = ivOf(head, original, keys);
  if (original === '') return `[${head}:${iv.toString('base64url')}]`;
  const sealed = seal(original, keyOf(keys), { iv, head: Buffer.from(head) });
  return `[${head}:${sealed.toString('base64url')}]`;
}

/** Derived from what is sealed: a span that is sent again has the same token, and two originals never share it. */
function ivOf(head: string, original: string, { seals }: TokenKeys): Buffer {
  return createHmac('sha256', seals).update(`${head}:${original}`).digest().subarray(0, IV_BYTES);
}

function keyOf({ seals }: TokenKeys): Buffer {
  return Buffer.from(seals, 'base64url');
}

/** Returns null for what was not written here. */
function opened(kind: string, digest: string, sealed: string, keys: TokenKeys): string | null {
  const head = `${kind}:${digest}`;
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length === IV_BYTES) return ivOf(head, '', keys).equals(bytes) ? '' : null;
  try {
    return open(bytes, keyOf(keys), Buffer.from(head)).toString();
  } catch {
    return null;
  }
}
