/**
 * The state of one session: what its later turns need, and the sentences for its title and summary. Keeps the invariant
 * that `read` restores what `write` wrote, and that every text in it is redacted.
 *
 * Test: test/reader/conversations/session-state.test.ts.
 */
import { ByteReader, ByteWriter } from '../../domain/byte-codec.ts';
import type { AssistantAct } from '../../domain/facts.ts';
import { numberOfAct, actOfNumber } from './signal-context.ts';
import { Conduct } from './conduct.ts';
import type { KeptRequest } from './repeat-evidence.ts';
import { NO_WAIT } from '../../domain/waits.ts';
import { RepeatText } from '../acts/repeat-phrases.ts';
import { KEPT_REQUESTS } from './repeated-requests.ts';
import type { KnownWords } from '../personal/known-words.ts';
import { SESSION_FORMAT } from './session-format.ts';
import { SessionText } from './session-text.ts';

/** The state of one session. */
export class SessionState {
  readonly instance: number;
  readonly session: number;
  /** End user of the first user turn, who started the session; null if there is none. */
  user: number | null = null;
  hasUserTurn = false;
  /** True if there is no user turn yet, but an earlier batch held other turns. */
  hasOpening = false;
  /** End user of the latest user turn. */
  author: number | null = null;
  /** The micro-cluster under discussion. */
  micro: number | null = null;
  /** The latest requests, oldest first, at most 32. */
  readonly requests: KeptRequest[] = [];
  /** Number of `requests` that an assistant turn has followed. */
  answered = 0;
  /** Event time of the latest assistant turn if it asked and the user brought up nothing since; else null. */
  askedAt: number | null = null;
  /** Event time of the latest user turn until an assistant turn follows; else null. */
  waitingSince: number | null = null;
  /** Step of the latest wait for a reply (domain/waits.ts); 0 if there is none. */
  waited = NO_WAIT;
  /** True if the latest assistant turn asked for the user's name, contact data, a number or the like. */
  askedForData = false;
  /** True if the latest user turn with content asks for something, or may. A mere statement needs no answer. */
  wantsAnswer = true;
  /** Number of turns. */
  turns = 0;
  /** Words for the people in it, as hashes: they are redacted. */
  known: KnownWords = [];
  /** The beginning and end of the latest assistant turn. */
  answer = new RepeatText('');
  /** Act of the latest assistant turn; null if there is none yet. */
  latestAct: AssistantAct | null = null;
  /** Group of the latest gap; null if there is none. */
  gap: number | null = null;
  text = new SessionText();
  conduct = new Conduct();

  constructor(instance: number, session: number) {
    this.instance = instance;
    this.session = session;
  }

  /**
   * The request under discussion, which names a gap: the latest that names an action and a thing, or asks about
   * something, and neither complains nor repeats; null if there is none.
   */
  get subject(): KeptRequest | null {
    const withText = this.requests.filter(({ text }) => text !== '');
    return withText.findLast(({ standsAlone }) => standsAlone) ?? withText[0] ?? null;
  }

  /** Keeps a request; drops the oldest if there is no room. */
  addRequest(request: KeptRequest): void {
    this.requests.push(request);
    if (this.requests.length <= KEPT_REQUESTS) return;
    this.requests.shift();
    this.answered = Math.max(0, this.answered - 1);
  }

  write(): Uint8Array {
    const writer = new ByteWriter()
      .byte(SESSION_FORMAT)
      .byte(
        (this.hasUserTurn ? 1 : 0) |
          (this.hasOpening ? 2 : 0) |
          (this.askedForData ? 4 : 0) |
          (this.wantsAnswer ? 8 : 0) |
          (numberOfAct(this.latestAct) << 4),
      )
      .link(this.user ?? -1)
      .link(this.author ?? -1)
      .link(this.micro ?? -1)
      .link(this.gap ?? -1)
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
    this.conduct.write(writer);
    return writer.finish();
  }

  static read(instance: number, session: number, value: Uint8Array, dimensions: number): SessionState {
    const reader = new ByteReader(value);
    const state = new SessionState(instance, session);
    if (reader.byte() !== SESSION_FORMAT)
      throw new Error('session state was written by another version: rebuild the views');
    const flags = reader.byte();
    state.hasUserTurn = (flags & 1) !== 0;
    state.hasOpening = (flags & 2) !== 0;
    state.askedForData = (flags & 4) !== 0;
    state.wantsAnswer = (flags & 8) !== 0;
    state.latestAct = actOfNumber(flags >>> 4);
    state.user = numberOrNull(reader.link());
    state.author = numberOrNull(reader.link());
    state.micro = numberOrNull(reader.link());
    state.gap = numberOrNull(reader.link());
    state.answered = reader.count();
    state.askedAt = instantOf(reader.text());
    state.waitingSince = instantOf(reader.text());
    state.waited = reader.byte();
    state.answer = new RepeatText(reader.text());
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
    state.conduct = Conduct.read(reader);
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
