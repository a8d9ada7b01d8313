/**
 * Puts tokens in place of the personal data in spans, before they are stored. Keeps the invariant that a span which is
 * sent again has the same tokens.
 *
 * Test: test/doors/traces/mask-spans.test.ts.
 */
import { LRUCache } from 'lru-cache';
import type { ReadPersonalValues } from '../../domain/placeholders.ts';
import { leadOf, readBehind, type FindPersons } from '../../web/ingest/mask-request.ts';
import type { Observation, ObservedAttributes, ObservedMessage, ObservedValue } from './observation.ts';
import { sealedId, tokenOf, type TokenKeys } from './tokens.ts';

export interface SpanMasking {
  /** `sealed`: can be read again, because the span's instance is not known yet and may mask nothing. */
  readonly texts: 'asSent' | 'masked' | 'sealed';
  /** User ids are sealed: some instance stores digests of them. */
  readonly userIds: boolean;
}

/** How the spans of a request are masked. It is sent to threads. */
export interface SpanMaskWork {
  readonly kind: 'spans';
  readonly keys: TokenKeys;
  /** By the instance that a span names. */
  readonly named: ReadonlyMap<string, SpanMasking>;
  readonly others: SpanMasking;
}

/** `bytes`: a JSON list of observations. */
export interface MaskedSpans {
  readonly kind: 'spans';
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A text with tokens, and the names that were heard in it. */
interface MaskedText {
  readonly content: string;
  readonly names: readonly number[];
}

/** As for requests: limit of the names that later texts are searched for. */
const KNOWN_NAMES = 32;
/** Calls repeat what was said before, so texts stay in memory: about so much, bytes. */
const REMEMBERED_BYTES = 8 * 2 ** 20;
const TEXT_BYTES = 300;

/** Makes the function that masks a JSON list of observations. `findPersons` supplements the rules; null: rules only. */
export function createMaskSpans(
  read: ReadPersonalValues,
  findPersons: FindPersons | null,
): (bytes: Uint8Array, work: SpanMaskWork) => Promise<MaskedSpans> {
  const remembered = new LRUCache<string, MaskedText>({ maxSize: REMEMBERED_BYTES });

  /** `lead`: is read before the text. Places are those in the text. */
  async function readText(
    text: string,
    known: readonly number[],
    lead = '',
  ): Promise<ReturnType<ReadPersonalValues>> {
    return readBehind(read, lead, text, known, (await findPersons?.(text)) ?? []);
  }

  async function maskedText(
    text: string,
    known: readonly number[],
    isSealed: boolean,
    keys: TokenKeys,
    lead = '',
  ): Promise<MaskedText> {
    const name = `${keys.values} ${isSealed} ${known.join(' ')}\n${lead}\n${text}`;
    const earlier = remembered.get(name);
    if (earlier !== undefined) return earlier;
    const { values, names } = await readText(text, known, lead);
    let content = '';
    let end = 0;
    for (const value of values) {
      const original = text.slice(value.start, value.end);
      content += text.slice(end, value.start) + tokenOf(value, isSealed ? original : '', keys);
      end = value.end;
    }
    const masked = { content: content + text.slice(end), names };
    const size = TEXT_BYTES + 2 * (name.length + masked.content.length);
    if (size < REMEMBERED_BYTES) remembered.set(name, masked, { size });
    return masked;
  }

  /** Names heard in a span are masked in its later texts, as in a request. */
  async function maskedMessages(
    { asked, answered, attributes }: Observation,
    isSealed: boolean,
    keys: TokenKeys,
  ): Promise<Pick<Observation, 'asked' | 'answered' | 'attributes'>> {
    let known: readonly number[] = [];
    const mask = async (messages: readonly ObservedMessage[]): Promise<ObservedMessage[]> => {
      const masked: ObservedMessage[] = [];
      for (const message of messages) {
        const { content, names } = await maskedText(message.content, known, isSealed, keys);
        if (names.length > 0) known = [...new Set([...known, ...names])].slice(-KNOWN_NAMES);
        masked.push({ ...message, content });
      }
      return masked;
    };
    const messages = { asked: await mask(asked), answered: await mask(answered) };
    if (attributes === undefined) return messages;
    const members: [name: string, value: ObservedValue][] = [];
    // A name says what a bare number is, as in metadata of a request.
    for (const [name, value] of Object.entries(attributes)) {
      const isText = typeof value === 'string';
      members.push([
        name,
        isText ? (await maskedText(value, known, isSealed, keys, leadOf(name))).content : value,
      ]);
    }
    return { ...messages, attributes: Object.fromEntries(members) as ObservedAttributes };
  }

  async function maskedSpan(observation: Observation, work: SpanMaskWork): Promise<Observation> {
    const { texts, userIds } = maskingOf(observation, work);
    const { conversationId, userId } = observation;
    let masked = observation;
    if (userIds && userId !== undefined) masked = { ...masked, userId: sealedId(userId, work.keys) };
    if (texts === 'asSent') return masked;
    masked = { ...masked, ...(await maskedMessages(observation, texts === 'sealed', work.keys)) };
    // Sessions are found by it, so it is sealed whole, and only if it holds what is masked in stored ids.
    if (conversationId === undefined || !(await holdsAddress(conversationId))) return masked;
    return { ...masked, conversationId: sealedId(conversationId, work.keys) };
  }

  async function holdsAddress(id: string): Promise<boolean> {
    return id.includes('@') && (await readText(id, [])).values.some(({ kind }) => kind === 'EMAIL');
  }

  return async (bytes, work) => {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
    const masked: string[] = [];
    for (const observation of JSON.parse(text) as Observation[])
      masked.push(JSON.stringify(await maskedSpan(observation, work)));
    return { kind: 'spans', bytes: new Uint8Array(Buffer.from(`[${masked.join(',')}]`)) };
  };
}

/** Log records belong to a span that may name another instance. */
function maskingOf({ instanceId, kind }: Observation, { named, others }: SpanMaskWork): SpanMasking {
  return (kind === 'event' || instanceId === undefined ? undefined : named.get(instanceId)) ?? others;
}
