/**
 * A user turn as it may be shown: without personal data. What a session shows or keeps for being shown is made of this
 * and never of the turn itself. Covered by test/reader/threads/personal-data.test.ts.
 */
import type { Enrichment, Turn } from '../../domain/facts.ts';
import { withKnown, wordsOfAnswer, wordsOfId, type KnownWords } from '../personal/known-words.ts';
import { HIDDEN, personalSpans, redact, type RedactedAhead } from '../personal/redact.ts';
import type { Span } from '../personal/spans.ts';
import { holdsQuestion, isBare } from './answering-turns.ts';

/** Of a longer turn only the beginning is shown. UTF-16 units. */
export const SHOWN_LENGTH = 2000;

export interface ShownTurn {
  readonly content: string;
  /** The part of it that carries the request. */
  readonly request: string;
  /** Those of the request. */
  readonly sentences: Enrichment['sentences'];
}

/** What was found in a turn. */
type Found = Pick<Enrichment, 'kind' | 'request' | 'sentences'>;

/** What a session knows of its persons. */
interface Knowing {
  readonly askedForData: boolean;
  known: KnownWords;
}

/** A turn as it is read where nobody is known but whom it names itself: as most turns are, wherever they stand. */
export interface ShownAhead {
  /** Its first `SHOWN_LENGTH` units. */
  readonly beginning: RedactedAhead;
  /** Null: something was cut out of what was found in it, or it is longer than that. */
  readonly shown: ShownTurn | null;
}

/** Notes whom a user turn names, and gives what of it may be shown. */
export function shownTurn(turn: Turn, found: Found, session: Knowing, ahead: ShownAhead): ShownTurn {
  const { kind, sentences } = found;
  const { content, userId } = turn;
  if (userId !== undefined) session.known = withKnown(session.known, wordsOfId(userId));
  if (session.askedForData && isBare(content) && !holdsQuestion(content)) {
    session.known = withKnown(session.known, wordsOfAnswer(content));
    // The answer is the name, number or address that was asked for.
    if (kind === 'request' && !sentences.some(({ asks }) => asks))
      return { content: '', request: '', sentences: [] };
  }
  const redaction = ahead.beginning.with(session.known);
  session.known = withKnown(session.known, redaction.names);
  const shown = redaction === ahead.beginning ? ahead.shown : null;
  return shown ?? shownOf(content, found, redaction.text, session.known);
}

/** `text`: the beginning of the content without personal data; `known`: whom the session and the turn name. */
export function shownOf(
  content: string,
  { request, sentences }: Pick<Found, 'request' | 'sentences'>,
  text: string,
  known: KnownWords,
): ShownTurn {
  if (text === content || (request === '' && sentences.length === 0))
    return { content: text, request, sentences };
  const spans = personalSpans(content, { known });
  const told = sentences.map((sentence) => ({
    ...sentence,
    text: redact(maskedPart(content, sentence.text, spans), { known }),
  }));
  const shown = request === '' ? '' : redact(maskedRequest(request, sentences, content, spans), { known });
  return { content: text, request: shown, sentences: told };
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
