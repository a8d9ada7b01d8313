import type { Enrichment } from '../domain/facts.ts';
import { truncate } from '../domain/truncate.ts';
import type { ByteReader, ByteWriter } from '../domain/byte-codec.ts';
import { politeCore } from '../language/core-words.ts';
import type { DetectLanguage } from '../language/detect.ts';
import { LEXICON } from '../language/lexicon.ts';
import { alternatives } from '../language/patterns.ts';
import { shownSentencesOf } from '../language/sentences.ts';
import { stemOf } from '../language/stem.ts';
import { contentWordCount, isUnspaced, wordsOf } from '../language/words.ts';

const TITLE_LENGTH = 60;
const SENTENCE_LENGTH = 200;
/** Of a longer turn only the beginning is read. */
const READ_LENGTH = 4000;
/** User text that language is told from; past it the answer stands. */
const LANGUAGE_SAMPLE = 240;

/**
 * What title, summary and language of a session are made of: a few sentences, never the conversation.
 * Everything that it gives depends only on the turns so far, not on when it is asked.
 */
export class SessionText {
  #sample = '';
  #sampleFull = false;
  /** Where the turns end in the sample that language was not told from yet. */
  #untold: number[] = [];
  #language: string | null = null;
  #main = '';
  #mainScore = 0;
  #opening = '';
  #reply = '';
  #closing = '';

  addUserTurn(content: string, enrichment: Enrichment): void {
    if (!this.#sampleFull) {
      const longer = this.#sample === '' ? content : `${this.#sample}\n${content}`;
      this.#sampleFull = longer.length >= LANGUAGE_SAMPLE;
      this.#sample = truncate(longer, LANGUAGE_SAMPLE);
      this.#untold.push(this.#sample.length);
    }
    if (this.#opening === '') this.#opening = clip(oneLine(content), SENTENCE_LENGTH);
    this.#closing = '';
    if (enrichment.kind === 'request') {
      const request = oneLine(enrichment.request);
      const score = mainScore(request, this.#main === '');
      if (score > this.#mainScore) {
        this.#main = clip(request, SENTENCE_LENGTH);
        this.#mainScore = score;
      }
    } else if (this.#main !== '') {
      this.#closing = clip(oneLine(content), SENTENCE_LENGTH / 2);
    }
  }

  /** `redact`: takes personal data out of the sentence that is kept; a user turn comes without any. */
  addAssistantTurn(content: string, redact: (text: string) => string): void {
    const sentence = tellingSentence(content);
    if (sentence !== '') this.#reply = clip(redact(sentence), SENTENCE_LENGTH);
  }

  /** The main request, at most 60 characters, cut at a word; null before the user has said anything. */
  get title(): string | null {
    const source = this.#main === '' ? this.#opening : this.#main;
    if (source === '') return null;
    const core = titleCore(source);
    return capitalised(cutAtWord(core, TITLE_LENGTH));
  }

  /** One to three sentences of the conversation: what was asked, what came of it, how it ended; null as `title`. */
  get summary(): string | null {
    const asked = this.#main === '' ? this.#opening : this.#main;
    if (asked === '') return null;
    return [asked, this.#reply, this.#closing]
      .filter((part) => part !== '')
      .map((part) => sentenceOf(part))
      .join(' ');
  }

  /**
   * ISO 639-1 code of the user's turns together; null until it is reliable. `detect` is given what it told of the
   * turns before, and is asked turn by turn, so that the answer does not depend on when this is called.
   */
  language(detect: DetectLanguage): string | null {
    for (const end of this.#untold) this.#language = detect(this.#sample.slice(0, end), this.#language);
    this.#untold = [];
    if (this.#sampleFull) this.#sample = '';
    return this.#language;
  }

  /** Call after `language`: what is not needed for it any more is not written. */
  write(writer: ByteWriter): void {
    writer
      .byte(this.#sampleFull ? 1 : 0)
      .text(this.#sample)
      .text(this.#language ?? '')
      .float(this.#mainScore);
    for (const text of [this.#main, this.#main === '' ? this.#opening : '', this.#reply, this.#closing]) {
      writer.text(text);
    }
  }

  static read(reader: ByteReader): SessionText {
    const text = new SessionText();
    text.#sampleFull = reader.byte() === 1;
    text.#sample = reader.text();
    text.#language = reader.text() || null;
    text.#mainScore = reader.float();
    text.#main = reader.text();
    text.#opening = reader.text();
    text.#reply = reader.text();
    text.#closing = reader.text();
    return text;
  }
}

/** Stems of words that announce a request without saying it. */
const VAGUE: ReadonlySet<string> = new Set(LEXICON.announcements.all.map(stemOf));

/**
 * How well a request stands for the conversation: the first one, unless it says nothing and a later
 * one does. Rounded to what is stored.
 */
function mainScore(request: string, first: boolean): number {
  const content = wordsOf(request).filter(({ content: tells, stem }) => tells && !VAGUE.has(stem)).length;
  const telling = Math.min(content, 3) / 3;
  return Math.fround(0.2 + telling + (first ? 0.7 : 0));
}

/**
 * The request without greeting and politeness, from its own text, so that its language and spelling stay.
 * Of a request that is too long for a title, from the first sentence that asks.
 */
function titleCore(request: string): string {
  const whole = withoutPoliteness(request);
  if (whole.length <= TITLE_LENGTH) return whole;
  const asking = shownSentencesOf(request).find(
    (sentence) => ASKING_SENTENCE.test(sentence) && contentWordCount(sentence) > 1,
  );
  return asking === undefined ? whole : withoutPoliteness(asking);
}

/** A question, or what politeness leads up to. */
const ASKING_SENTENCE = new RegExp(
  `[?？]\\s*$|(?:^|\\s)(?:${alternatives(LEXICON.requestLeads.all)})(?=\\s)`,
  'iu',
);

const MARKS_AT_END = /(?<![\s.!?…。！？;,:，、-])[\s.!?…。！？;,:，、-]+$/u;
const PLEASE_AT_END = new RegExp(`(?<![\\s,])[\\s,]+(?:${alternatives(LEXICON.pleaseAtEnd.all)})$`, 'iu');

function withoutPoliteness(request: string): string {
  const words = politeCore(request);
  const first = words[0];
  const rest = first === undefined ? request : request.slice(first.start);
  return rest.replace(MARKS_AT_END, '').replace(PLEASE_AT_END, '');
}

/** The sentence of an assistant turn that says most: the first that is neither a question nor very short. */
function tellingSentence(content: string): string {
  const sentences = shownSentencesOf(oneLine(content));
  const telling = sentences.find(
    (sentence) => !/[?？]$/.test(sentence) && (isUnspaced(sentence) || sentence.split(' ').length > 3),
  );
  return clip(telling ?? sentences[0] ?? '', SENTENCE_LENGTH);
}

function sentenceOf(text: string): string {
  const whole = capitalised(text.trim());
  return /[.!?…。！？]["”»')]*$/u.test(whole) ? whole : `${whole}${isUnspaced(whole) ? '。' : '.'}`;
}

function oneLine(text: string): string {
  return truncate(text, READ_LENGTH).replace(/\s+/gu, ' ').trim();
}

/** At most `length` UTF-16 units, cut at a word with an ellipsis. */
function clip(text: string, length: number): string {
  return text.length <= length ? text : cutAtWord(text, length);
}

function cutAtWord(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = truncate(text, length - 1);
  const space = cut.search(/\s\S*$/u);
  return `${(space > length / 2 ? cut.slice(0, space) : cut).replace(/(?<![\s.,;:!?-])[\s.,;:!?-]+$/u, '')}…`;
}

function capitalised(text: string): string {
  const [first = '', ...rest] = Array.from(text);
  return first.toUpperCase() + rest.join('');
}
