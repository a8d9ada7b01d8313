/**
 * One turn read on its own, without its context. Keeps the invariant that each part is read at most once, lazily;
 * `TurnReader` reads ahead the parts that assign is likely to need.
 *
 * Test: test/reader/threads/turn-reader.test.ts.
 */
import { askedSentences, type AskedSentence } from '../acts/asked-sentences.ts';
import { readAnswer, type AssistantAnswer } from '../acts/assistant-answer.ts';
import { edgesOf, RepeatText } from '../acts/repeat-phrases.ts';
import { comparedBy, keptText, type Compared } from '../acts/compared-request.ts';
import { REDACTED_LENGTH, redactedTurnOf, type RedactedTurn } from '../acts/redacted-turn.ts';
import type { Enrichment, Turn } from '../../domain/facts.ts';
import { truncate } from '../../domain/truncate.ts';
import type { KnownWords } from '../personal/known-words.ts';
import { RedactedAhead } from '../personal/redact.ts';
import { ReadRequest } from '../topics/read-request.ts';

/** An assistant turn after redaction, and its acts. */
export class RedactedAnswer {
  /** Its beginning, redacted. */
  readonly text: string;
  /** Its beginning and end: the next turn may refer to either. */
  readonly edges: RepeatText;
  #answer: AssistantAnswer | null = null;

  constructor(beginning: string, ending: string | undefined) {
    this.text = beginning;
    this.edges = new RepeatText(edgesOf(ending === undefined ? beginning : `${beginning}\n${ending}`));
  }

  get answer(): AssistantAnswer {
    return (this.#answer ??= readAnswer(this.text));
  }
}

type Found = Pick<Enrichment, 'request' | 'sentences'>;

/** The lazily read parts of one turn. */
export class TurnReading {
  readonly #found: Found;
  readonly #content: string;
  #beginning: RedactedAhead | null = null;
  #ending: RedactedAhead | null = null;
  #edges: RepeatText | null = null;
  #redacted: RedactedTurn | null = null;
  #asked: readonly AskedSentence[] | null = null;
  #request: ReadRequest | null = null;
  #compared: Compared | null = null;
  #keptRequest: RepeatText | null = null;
  #answer: RedactedAnswer | null = null;

  /** `found`: the findings of enrich for this turn. */
  constructor({ content }: Pick<Turn, 'content'>, found: Found) {
    this.#content = content;
    this.#found = found;
  }

  /** Its first `REDACTED_LENGTH` UTF-16 units, redacted. */
  get beginning(): RedactedAhead {
    return (this.#beginning ??= new RedactedAhead(truncate(this.#content, REDACTED_LENGTH)));
  }

  /** A user turn, redacted with only the names that it introduces itself; null if it is longer than `REDACTED_LENGTH`. */
  get redacted(): RedactedTurn | null {
    if (this.#content.length > REDACTED_LENGTH) return null;
    const { text, names } = this.beginning;
    return (this.#redacted ??= redactedTurnOf(this.#content, this.#found, text, names));
  }

  /** The beginning and end of a user turn: how it picks up the turn before, and how it closes. */
  get edges(): RepeatText {
    return (this.#edges ??= new RepeatText(edgesOf(this.#content)));
  }

  /** The sentences of `redacted` that ask something. */
  get asked(): readonly AskedSentence[] {
    const { redacted } = this;
    return (this.#asked ??= askedSentences(redacted?.content ?? this.#content, redacted ?? this.#found));
  }

  /** The request in `redacted`. */
  get request(): ReadRequest {
    return (this.#request ??= new ReadRequest((this.redacted ?? this.#found).request));
  }

  /** The request for comparisons: its original words, redacted ones included. */
  get compared(): Compared {
    const { request } = this.#found;
    const isUnredacted = request === this.request.text;
    return (this.#compared ??= isUnredacted ? comparedBy(request, this.request.parts) : comparedBy(request));
  }

  /** The part of the request's text that the session keeps; all of it for a short turn. */
  get keptRequest(): RepeatText {
    const kept = keptText(this.request.text);
    return (this.#keptRequest ??= kept === this.edges.text ? this.edges : new RepeatText(kept));
  }

  /** The assistant turn, redacted with the names known in the session. */
  redactedAmong(known: KnownWords): RedactedAnswer {
    const isLong = this.#content.length > REDACTED_LENGTH;
    const ahead = isLong
      ? (this.#ending ??= new RedactedAhead(this.#content.slice(-REDACTED_LENGTH)))
      : undefined;
    const [beginning, ending] = [this.beginning.with(known), ahead?.with(known)];
    if (beginning !== this.beginning || ending !== ahead)
      return new RedactedAnswer(beginning.text, ending?.text);
    return (this.#answer ??= new RedactedAnswer(beginning.text, ending?.text));
  }
}
