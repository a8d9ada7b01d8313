import { ByteReader, ByteWriter } from '../../domain/byte-codec.ts';
import type { Stance } from '../../domain/facts.ts';
import { stanceNumber, stanceOfNumber } from './signal-context.ts';
import type { KeptRequest } from './repeat-evidence.ts';
import { NO_WAIT } from '../../domain/waits.ts';
import { SaidText } from '../acts/repeat-phrases.ts';
import { KEPT_REQUESTS } from './repeated-requests.ts';
import type { KnownWords } from '../personal/known-words.ts';
import { SessionText } from './session-text.ts';

/** Raised with each change of what `write` writes. */
const FORMAT = 13;

/** What is kept of one session: what its next turns need, and the sentences that its title and summary are made of. */
export class SessionState {
  readonly instance: number;
  readonly session: number;
  /** The end user who started it: the first user turn's; null when there is none or no user turn yet. */
  user: number | null = null;
  hasUserTurn = false;
  /** There is no user turn yet, but an earlier batch held other turns. */
  hasOpening = false;
  /** The latest user turn's end user. */
  author: number | null = null;
  /** The micro-cluster under discussion. */
  micro: number | null = null;
  /** The last requests, oldest first, at most 32. */
  readonly requests: KeptRequest[] = [];
  /** How many of `requests` an assistant turn has followed. */
  answered = 0;
  /** Event time of the latest assistant turn if it asked and nothing was brought up since; else null. */
  askedAt: number | null = null;
  /** Event time of the latest user turn while no assistant turn has followed; else null. */
  waitingSince: number | null = null;
  /** Step of the latest wait for a reply (domain/waits.ts); 0: none. */
  waited = NO_WAIT;
  /** The latest assistant turn asked who the user is, how to reach him, for a number and the like. */
  askedForData = false;
  /** The latest user turn that says something asks for something, or may: what it tells needs no answer. */
  wantsAnswer = true;
  /** Turns that it has. */
  turns = 0;
  /** Words that stand for its persons, as hashes: they are not to be shown. */
  known: KnownWords = [];
  /** The beginning and end of the latest assistant turn. */
  answer = new SaidText('');
  /** What the latest assistant turn left the user to say; null: there is none yet. */
  stance: Stance | null = null;
  text = new SessionText();

  constructor(instance: number, session: number) {
    this.instance = instance;
    this.session = session;
  }

  /**
   * The request that is spoken of, as a gap is named after it: the latest that says what is wished for with what, or
   * asks about something, and neither complains nor asks again; null without.
   */
  get subject(): KeptRequest | null {
    const shown = this.requests.filter(({ text }) => text !== '');
    return shown.findLast(({ standsAlone }) => standsAlone) ?? shown[0] ?? null;
  }

  /** Keeps a request in place of the oldest, when there is no room. */
  addRequest(request: KeptRequest): void {
    this.requests.push(request);
    if (this.requests.length <= KEPT_REQUESTS) return;
    this.requests.shift();
    this.answered = Math.max(0, this.answered - 1);
  }

  write(): Uint8Array {
    const writer = new ByteWriter()
      .byte(FORMAT)
      .byte(
        (this.hasUserTurn ? 1 : 0) |
          (this.hasOpening ? 2 : 0) |
          (this.askedForData ? 4 : 0) |
          (this.wantsAnswer ? 8 : 0) |
          (stanceNumber(this.stance) << 4),
      )
      .link(this.user ?? -1)
      .link(this.author ?? -1)
      .link(this.micro ?? -1)
      .count(this.answered)
      .text(instantText(this.askedAt))
      .text(instantText(this.waitingSince))
      .byte(this.waited)
      .text(this.answer.text)
      .count(this.turns)
      .count(this.known.length);
    for (const word of this.known) writer.count(word);
    writer.count(this.requests.length);
    for (const {
      text,
      vector,
      words,
      action,
      thing,
      language,
      length,
      answered,
      standsAlone,
    } of this.requests) {
      writer.text(text).raw(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
      writer
        .count(length)
        .byte(answered)
        .byte(standsAlone ? 1 : 0)
        .count(words.length + 3);
      for (const hash of [action, thing, language, ...words]) writer.byte(hash & 0xff).byte(hash >>> 8);
    }
    this.text.write(writer);
    return writer.finish();
  }

  static read(instance: number, session: number, value: Uint8Array, dimensions: number): SessionState {
    const reader = new ByteReader(value);
    const state = new SessionState(instance, session);
    if (reader.byte() !== FORMAT)
      throw new Error('session state was written by another version: rebuild the views');
    const flags = reader.byte();
    state.hasUserTurn = (flags & 1) !== 0;
    state.hasOpening = (flags & 2) !== 0;
    state.askedForData = (flags & 4) !== 0;
    state.wantsAnswer = (flags & 8) !== 0;
    state.stance = stanceOfNumber(flags >>> 4);
    state.user = numberOrNull(reader.link());
    state.author = numberOrNull(reader.link());
    state.micro = numberOrNull(reader.link());
    state.answered = reader.count();
    state.askedAt = instantOf(reader.text());
    state.waitingSince = instantOf(reader.text());
    state.waited = reader.byte();
    state.answer = new SaidText(reader.text());
    state.turns = reader.count();
    const known: number[] = [];
    for (let left = reader.count(); left > 0; left -= 1) known.push(reader.count());
    state.known = known;
    for (let left = reader.count(); left > 0; left -= 1) {
      const text = reader.text();
      const bytes = reader.raw(dimensions);
      const vector = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const length = reader.count();
      const answered = reader.byte();
      const standsAlone = reader.byte() === 1;
      const hashes: number[] = [];
      for (let more = reader.count(); more > 0; more -= 1) hashes.push(reader.byte() + reader.byte() * 0x100);
      const [action = 0, thing = 0, language = 0, ...words] = hashes;
      state.requests.push({ text, vector, words, action, thing, language, length, answered, standsAlone });
    }
    state.text = SessionText.read(reader);
    return state;
  }
}

function instantText(at: number | null): string {
  return at === null ? '' : String(at);
}

function instantOf(text: string): number | null {
  return text === '' ? null : Number(text);
}

function numberOrNull(link: number): number | null {
  return link < 0 ? null : link;
}
