/**
 * A user turn without personal data. Keeps the invariant that whatever a session shows, or keeps to show, is made from
 * this text and never from the turn itself.
 *
 * Test: test/reader/threads/personal-data.test.ts.
 */
import type { Enrichment, Turn } from '../../domain/facts.ts';
import { withKnown, wordsOfAnswer, wordsOfId, type KnownWords } from '../personal/known-words.ts';
import { HIDDEN, personalSpans, redact, type RedactedAhead } from '../personal/redact.ts';
import type { Span } from '../personal/spans.ts';
import { holdsQuestion, isBare } from './answering-turns.ts';

/** Longest part of a turn that is shown, from its beginning, UTF-16 units. */
export const REDACTED_LENGTH = 2000;

export interface RedactedTurn {
  readonly content: string;
  /** The part that carries the request. */
  readonly request: string;
  /** The sentences of the request. */
  readonly sentences: Enrichment['sentences'];
}

/** The findings in a turn that are redacted. */
type Found = Pick<Enrichment, 'kind' | 'request' | 'sentences'>;

/** The part of a session's state that redaction reads and extends. */
interface Knowing {
  readonly askedForData: boolean;
  known: KnownWords;
}

/** A turn, redacted with only the names that it introduces itself. Most turns read the same in their session. */
export interface TurnAhead {
  /** Its first `REDACTED_LENGTH` UTF-16 units, redacted. */
  readonly beginning: RedactedAhead;
  /** The redacted turn; null if template sentences was cut out of its findings, or if it is longer than `REDACTED_LENGTH`. */
  readonly redacted: RedactedTurn | null;
}

/** Redacts a user turn. Adds the people that it names to the session's known words. */
export function redactTurn(turn: Turn, found: Found, session: Knowing, ahead: TurnAhead): RedactedTurn {
  const { kind, sentences } = found;
  const { content, userId } = turn;
  if (userId !== undefined) session.known = withKnown(session.known, wordsOfId(userId));
  if (session.askedForData && isBare(content) && !holdsQuestion(content)) {
    session.known = withKnown(session.known, wordsOfAnswer(content));
    // The turn is the name, number or address that was asked for.
    if (kind === 'request' && !sentences.some(({ asks }) => asks))
      return { content: '', request: '', sentences: [] };
  }
  const redaction = ahead.beginning.with(session.known);
  session.known = withKnown(session.known, redaction.names);
  const redacted = redaction === ahead.beginning ? ahead.redacted : null;
  return redacted ?? redactedTurnOf(content, found, redaction.text, session.known);
}

/** `text`: the redacted beginning of `content`. `known`: the words that session and turn introduce. */
export function redactedTurnOf(
  content: string,
  { request, sentences }: Pick<Found, 'request' | 'sentences'>,
  text: string,
  known: KnownWords,
): RedactedTurn {
  if (text === content || (request === '' && sentences.length === 0))
    return { content: text, request, sentences };
  const spans = personalSpans(content, { known });
  const redactedSentences = sentences.map((sentence) => ({
    ...sentence,
    text: redact(maskedPart(content, sentence.text, spans), { known }),
  }));
  const redacted = request === '' ? '' : redact(maskedRequest(request, sentences, content, spans), { known });
  return { content: text, request: redacted, sentences: redactedSentences };
}

/** Redacts a part by the personal spans of the whole text: "ul. Lipowa 3 m." alone is no address. */
function maskedPart(content: string, part: string, spans: readonly Span[]): string {
  const from = content.indexOf(part);
  if (from < 0 || part === '') return part;
  let redacted = '';
  let end = from;
  for (const span of spans) {
    if (span.end <= from || span.start >= from + part.length) continue;
    redacted += `${content.slice(end, Math.max(end, span.start))}${HIDDEN}`;
    end = Math.min(span.end, from + part.length);
  }
  return redacted + content.slice(end, from + part.length);
}

/** Redacts a request sentence by sentence if it is no single part of the text. */
function maskedRequest(
  request: string,
  sentences: Enrichment['sentences'],
  content: string,
  spans: readonly Span[],
): string {
  const whole = maskedPart(content, request, spans);
  if (whole !== request) return whole;
  return sentences.reduce(
    (masked, { text }) => masked.replace(text, () => maskedPart(content, text, spans)),
    request,
  );
}
