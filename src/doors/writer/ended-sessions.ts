/**
 * Detects ended sessions: no turn has come for a while by this process's clock. A clock is allowed here because the
 * summary becomes a record of the stream, which a replay reads.
 *
 * Test: test/doors/writer/ended-sessions.test.ts.
 */
import type { TurnReport } from '../../domain/writings.ts';
import type { AskLine } from './asks.ts';

/** An ended session with its turns from the first on. */
export interface EndedSession {
  readonly instanceId: string;
  readonly projectId: string;
  readonly id: string;
  /** Number of turns. */
  readonly at: number;
  readonly lines: readonly AskLine[];
}

/** Lines, and their length in characters. */
export interface Lines {
  readonly lines: AskLine[];
  length: number;
}

interface TrackedSession extends Lines {
  readonly instanceId: string;
  readonly projectId: string;
  readonly id: string;
  at: number;
  lastTurnAt: number;
  asked: boolean;
}

const MOST_SESSIONS = 2000;
/** Maximum characters of a session's lines; the first and the last ones are kept. */
const MOST_LENGTH = 8000;
const FIRST_LINES = 4;
/** Fewest turns for a summary. */
const LEAST_LINES = 2;

/** Collects the turns of up to 2,000 sessions. A session ends `idleMs` after its last turn. */
export class EndedSessions {
  readonly #idleMs: number;
  /** Least recently active first. */
  readonly #sessions = new Map<string, TrackedSession>();

  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  /**
   * Records a turn. A session whose beginning is missing is ignored: it began before this process, or was dropped when
   * the map was full.
   */
  hear({ instanceId, sessionId, at, speaker, text }: TurnReport, projectId: string, now: number): void {
    const key = `${instanceId} ${sessionId}`;
    const known = this.#sessions.get(key);
    if (known === undefined ? at !== 1 : at !== known.at + 1) {
      this.#sessions.delete(key);
      return;
    }
    const session = known ?? {
      instanceId,
      projectId,
      id: sessionId,
      at,
      lines: [],
      length: 0,
      lastTurnAt: now,
      asked: false,
    };
    session.at = at;
    session.lastTurnAt = now;
    session.asked = false;
    if (speaker !== 'other' && text !== '') addLine(session, { speaker, text });
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    if (this.#sessions.size <= MOST_SESSIONS) return;
    const [oldest] = this.#sessions.keys();
    if (oldest !== undefined) this.#sessions.delete(oldest);
  }

  /** Returns the ended sessions, each once until it continues. */
  takeEnded(now: number): EndedSession[] {
    const ended: EndedSession[] = [];
    for (const session of this.#sessions.values()) {
      if (now - session.lastTurnAt < this.#idleMs) break;
      if (session.asked) continue;
      session.asked = true;
      const { instanceId, projectId, id, at, lines } = session;
      if (lines.length < LEAST_LINES || !lines.some(({ speaker }) => speaker === 'user')) continue;
      ended.push({ instanceId, projectId, id, at, lines: [...lines] });
    }
    return ended;
  }
}

/** Adds a line; what is too long loses lines of its middle. */
export function addLine(session: Lines, line: AskLine): void {
  session.lines.push(line);
  session.length += line.text.length;
  while (session.length > MOST_LENGTH && session.lines.length > FIRST_LINES + 1) {
    const [dropped] = session.lines.splice(FIRST_LINES, 1);
    session.length -= dropped?.text.length ?? 0;
  }
}
