/**
 * A user turn as it may be shown: without personal data. What a session shows or keeps for being shown is made of this
 * and never of the turn itself. Covered by test/worker/analysis/personal-data.test.ts.
 */
import type { Enrichment, Turn } from '../domain/facts.ts';
import { withKnown, wordsOfAnswer, wordsOfId, type KnownWords } from '../language/redact/known-words.ts';
import { HIDDEN, personalSpans, redact, type RedactedAhead } from '../language/redact/redact.ts';
import type { Span } from '../language/redact/spans.ts';
import { holdsQuestion, isBare } from './answering-turns.ts';

/** Of a longer turn only the beginning is shown. UTF-16 units. */
export const SHOWN_LENGTH = 2000;

export interface ShownTurn {
  readonly content: string;
  /** The part of it that carries the request. */
  readonly request: string;
  /** What was found in it, with request and sentences in the same way. */
  readonly enrichment: Enrichment;
}

/** What a session knows of its persons. */
interface Knowing {
  readonly askedForData: boolean;
  known: KnownWords;
}

/** Notes whom a user turn names, and gives what of it may be shown. `beginning`: its first `SHOWN_LENGTH` units. */
export function shownTurn(
  turn: Turn,
  enrichment: Enrichment,
  session: Knowing,
  beginning: RedactedAhead,
): ShownTurn {
  const { kind, request, sentences } = enrichment;
  if (turn.userId !== undefined) session.known = withKnown(session.known, wordsOfId(turn.userId));
  if (session.askedForData && isBare(turn.content) && !holdsQuestion(turn.content)) {
    session.known = withKnown(session.known, wordsOfAnswer(turn.content));
    // The answer is the name, number or address that was asked for.
    if (kind === 'request' && !sentences.some(({ asks }) => asks)) {
      return { content: '', request: '', enrichment: { ...enrichment, request: '', sentences: [] } };
    }
  }
  const { text, names } = beginning.with(session.known);
  session.known = withKnown(session.known, names);
  if (text === turn.content) return { content: text, request, enrichment };
  const spans = personalSpans(turn.content, session);
  const told = sentences.map((sentence) => ({
    ...sentence,
    text: redact(maskedPart(turn.content, sentence.text, spans), session),
  }));
  const shown = request === '' ? '' : redact(maskedRequest(request, sentences, turn.content, spans), session);
  return { content: text, request: shown, enrichment: { ...enrichment, request: shown, sentences: told } };
}

/** A part of a text without what is personal in the whole: "ul. Lipowa 3 m." alone is no address. */
function maskedPart(content: string, part: string, spans: readonly Span[]): string {
  const from = content.indexOf(part);
  if (from < 0 || part === '') return part;
  let shown = '';
  let end = from;
  for (const span of spans) {
    if (span.end <= from || span.start >= from + part.length) continue;
    shown += `${content.slice(end, Math.max(end, span.start))}${HIDDEN}`;
    end = Math.min(span.end, from + part.length);
  }
  return shown + content.slice(end, from + part.length);
}

/** A request is made of sentences. */
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
