/**
 * Which sessions have ended: no turn has come for a while, by the clock of this process. That may be, as what is
 * written about them becomes a record: a replay asks no clock.
 */
import type { TurnReport } from '../../domain/writings.ts';
import type { AskLine } from './asks.ts';

/** A session that has ended, from its first turn on. */
export interface EndedSession {
  readonly instanceId: string;
  readonly projectId: string;
  readonly id: string;
  /** Turns that it has. */
  readonly at: number;
  readonly lines: readonly AskLine[];
}

interface Heard {
  readonly instanceId: string;
  readonly projectId: string;
  readonly id: string;
  at: number;
  lines: AskLine[];
  length: number;
  heardAt: number;
  asked: boolean;
}

const MOST_SESSIONS = 2000;
/** Of a longer session the first and the last turns are kept. Characters. */
const MOST_LENGTH = 8000;
const FIRST_LINES = 4;
/** Shorter sessions are their own summary. */
const LEAST_LINES = 2;

export class EndedSessions {
  readonly #idleMs: number;
  /** Least recently heard first. */
  readonly #heard = new Map<string, Heard>();

  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  /**
   * Takes in a turn. A session of which the beginning is not known is passed over: it began before this process, or
   * was forgotten for want of room.
   */
  hear({ instanceId, sessionId, at, speaker, text }: TurnReport, projectId: string, now: number): void {
    const key = `${instanceId} ${sessionId}`;
    const known = this.#heard.get(key);
    if (known === undefined ? at !== 1 : at !== known.at + 1) {
      this.#heard.delete(key);
      return;
    }
    const session = known ?? {
      instanceId,
      projectId,
      id: sessionId,
      at,
      lines: [],
      length: 0,
      heardAt: now,
      asked: false,
    };
    session.at = at;
    session.heardAt = now;
    session.asked = false;
    if (speaker !== 'other' && text !== '') add(session, { speaker, text });
    this.#heard.delete(key);
    this.#heard.set(key, session);
    if (this.#heard.size <= MOST_SESSIONS) return;
    const [oldest] = this.#heard.keys();
    if (oldest !== undefined) this.#heard.delete(oldest);
  }

  /** The sessions that have ended, each once until it goes on. */
  takeEnded(now: number): EndedSession[] {
    const ended: EndedSession[] = [];
    for (const session of this.#heard.values()) {
      if (now - session.heardAt < this.#idleMs) break;
      if (session.asked) continue;
      session.asked = true;
      const { instanceId, projectId, id, at, lines } = session;
      if (lines.length < LEAST_LINES || !lines.some(({ speaker }) => speaker === 'user')) continue;
      ended.push({ instanceId, projectId, id, at, lines: [...lines] });
    }
    return ended;
  }
}

function add(session: Heard, line: AskLine): void {
  session.lines.push(line);
  session.length += line.text.length;
  while (session.length > MOST_LENGTH && session.lines.length > FIRST_LINES + 1) {
    const [dropped] = session.lines.splice(FIRST_LINES, 1);
    session.length -= dropped?.text.length ?? 0;
  }
}
