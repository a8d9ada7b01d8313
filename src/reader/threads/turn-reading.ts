/**
 * What a turn says by itself, whatever was said before it. Each part is read once: ahead of the ordered step where it
 * can be foreseen that it is needed (`TurnReader`), else when it is asked for.
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

/** An assistant turn as it may be shown, and what it says. */
export class ShownAnswer {
  /** Of its beginning. */
  readonly text: string;
  /** Its beginning and end: what the next turn goes on from. */
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

  /** `found`: what enrich found in it. */
  constructor({ content }: Pick<Turn, 'content'>, found: Found) {
    this.#content = content;
    this.#found = found;
  }

  /** Its first `SHOWN_LENGTH` units. */
  get beginning(): RedactedAhead {
    return (this.#beginning ??= new RedactedAhead(truncate(this.#content, SHOWN_LENGTH)));
  }

  /** A user turn as it is shown where nobody is known but whom it names itself; null: it is too long for that. */
  get shown(): ShownTurn | null {
    if (this.#content.length > SHOWN_LENGTH) return null;
    const { text, names } = this.beginning;
    return (this.#shown ??= shownOf(this.#content, this.#found, text, names));
  }

  /** The beginning and end of a user turn: how it goes on from the turn before, and how it closes. */
  get said(): SaidText {
    return (this.#said ??= new SaidText(edgesOf(this.#content)));
  }

  /** The sentences of `shown` that ask. */
  get asked(): readonly AskedSentence[] {
    const { shown } = this;
    return (this.#asked ??= askedSentences(shown?.content ?? this.#content, shown ?? this.#found));
  }

  /** The request of `shown`. */
  get request(): ReadRequest {
    return (this.#request ??= new ReadRequest((this.shown ?? this.#found).request));
  }

  /** What the request is compared by: its own words, hidden ones among them. */
  get compared(): Compared {
    const { request } = this.#found;
    const isShown = request === this.request.text;
    return (this.#compared ??= isShown ? comparedBy(request, this.request.parts) : comparedBy(request));
  }

  /** What is kept of the text of `request`: of a short turn all of it. */
  get keptRequest(): SaidText {
    const kept = keptText(this.request.text);
    return (this.#keptRequest ??= kept === this.said.text ? this.said : new SaidText(kept));
  }

  /** An assistant turn as it may be shown in a session in which these words are known. */
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
