/**
 * One turn read on its own, without its context. Keeps the invariant that each part is read at most once, lazily;
 * `TurnReader` reads ahead the parts that assign is likely to need.
 *
 * Test: test/reader/threads/turn-reader.test.ts.
 */
import { askedSentences, type AskedSentence } from '../acts/asked-sentences.ts';
import { readAnswer, type AssistantAnswer } from '../acts/assistant-answer.ts';
import { edgesOf, SaidText } from '../acts/repeat-phrases.ts';
import { comparedBy, keptText, type Compared } from '../acts/compared-request.ts';
import { SHOWN_LENGTH, shownOf, type ShownTurn } from '../acts/shown-turn.ts';
import type { Enrichment, Turn } from '../../domain/facts.ts';
import { truncate } from '../../domain/truncate.ts';
import type { KnownWords } from '../personal/known-words.ts';
import { RedactedAhead } from '../personal/redact.ts';
import { ReadRequest } from '../topics/read-request.ts';

/** An assistant turn after redaction, and its acts. */
export class ShownAnswer {
  /** Its beginning, redacted. */
  readonly text: string;
  /** Its beginning and end: the next turn may refer to either. */
  readonly said: SaidText;
  #answer: AssistantAnswer | null = null;

  constructor(beginning: string, ending: string | undefined) {
    this.text = beginning;
    this.said = new SaidText(edgesOf(ending === undefined ? beginning : `${beginning}\n${ending}`));
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
  #said: SaidText | null = null;
  #shown: ShownTurn | null = null;
  #asked: readonly AskedSentence[] | null = null;
  #request: ReadRequest | null = null;
  #compared: Compared | null = null;
  #keptRequest: SaidText | null = null;
  #answer: ShownAnswer | null = null;

  /** `found`: the findings of enrich for this turn. */
  constructor({ content }: Pick<Turn, 'content'>, found: Found) {
    this.#content = content;
    this.#found = found;
  }

  /** Its first `SHOWN_LENGTH` UTF-16 units, redacted. */
  get beginning(): RedactedAhead {
    return (this.#beginning ??= new RedactedAhead(truncate(this.#content, SHOWN_LENGTH)));
  }

  /** A user turn, redacted with only the names that it introduces itself; null if it is longer than `SHOWN_LENGTH`. */
  get shown(): ShownTurn | null {
    if (this.#content.length > SHOWN_LENGTH) return null;
    const { text, names } = this.beginning;
    return (this.#shown ??= shownOf(this.#content, this.#found, text, names));
  }

  /** The beginning and end of a user turn: how it picks up the turn before, and how it closes. */
  get said(): SaidText {
    return (this.#said ??= new SaidText(edgesOf(this.#content)));
  }

  /** The sentences of `shown` that ask something. */
  get asked(): readonly AskedSentence[] {
    const { shown } = this;
    return (this.#asked ??= askedSentences(shown?.content ?? this.#content, shown ?? this.#found));
  }

  /** The request in `shown`. */
  get request(): ReadRequest {
    return (this.#request ??= new ReadRequest((this.shown ?? this.#found).request));
  }

  /** The request for comparisons: its original words, redacted ones included. */
  get compared(): Compared {
    const { request } = this.#found;
    const isShown = request === this.request.text;
    return (this.#compared ??= isShown ? comparedBy(request, this.request.parts) : comparedBy(request));
  }

  /** The part of the request's text that the session keeps; all of it for a short turn. */
  get keptRequest(): SaidText {
    const kept = keptText(this.request.text);
    return (this.#keptRequest ??= kept === this.said.text ? this.said : new SaidText(kept));
  }

  /** The assistant turn, redacted with the names known in the session. */
  shownAmong(known: KnownWords): ShownAnswer {
    const isLong = this.#content.length > SHOWN_LENGTH;
    const ahead = isLong
      ? (this.#ending ??= new RedactedAhead(this.#content.slice(-SHOWN_LENGTH)))
      : undefined;
    const [beginning, ending] = [this.beginning.with(known), ahead?.with(known)];
    if (beginning !== this.beginning || ending !== ahead)
      return new ShownAnswer(beginning.text, ending?.text);
    return (this.#answer ??= new ShownAnswer(beginning.text, ending?.text));
  }
}
