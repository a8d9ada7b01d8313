import type {
  EntityChange,
  EntityChoice,
  EntityFigures,
  Figures,
} from '../../../src/doors/alerts/figures.ts';
import type { SegmentChoice } from '../../../src/domain/attributes.ts';
import { windowAt, type Span } from '../../../src/doors/alerts/windows.ts';
import { FALSE_ALARMS } from '../../../src/query/changes/changes-schema.ts';
import { chanceOf, significant } from '../../../src/query/changes/significance.ts';

/** A conversation's message about entities. Times are microseconds since 1970-01-01 UTC. */
export interface Event {
  readonly at: number;
  /** When the stream stored it; grows from one to the next. */
  readonly storedAt: number;
  readonly session: number;
  readonly topics?: readonly string[];
  readonly dsat?: boolean;
  /** Attributes of the conversation, by name. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** Counts plainly what a list of events says. */
export class EventFigures implements Figures {
  readonly position: number;
  readonly #events: readonly Event[];
  /** What was asked, in words. */
  readonly asked: string[] = [];

  constructor(events: readonly Event[]) {
    this.#events = events;
    this.position = events.length;
  }

  of(segment: readonly SegmentChoice[]): Figures {
    if (segment.length === 0) return this;
    return new EventFigures(
      this.#events.filter(({ attributes = {} }) =>
        segment.every(({ name, values }) => values.includes(attributes[name] ?? '')),
      ),
    );
  }

  async entities({ groupBy, span, atLeast, ids }: EntityChoice): Promise<readonly EntityFigures[]> {
    this.asked.push(`entities ${groupBy}`);
    if (groupBy !== 'TOPIC') return [];
    const sessions = new Map<string, Set<number>>();
    for (const { session, topics = [] } of this.#within(span))
      for (const topic of topics) sessions.set(topic, (sessions.get(topic) ?? new Set()).add(session));
    return [...sessions]
      .filter(([id, { size }]) => size >= atLeast && (ids === null || ids.includes(id)))
      .map(([id, { size }]) => ({ id, name: id, sessions: size }))
      .sort((a, b) => b.sessions - a.sessions || (a.id < b.id ? -1 : 1));
  }

  async sessions(span: Span, dissatisfied = false): Promise<number> {
    const events = this.#within(span).filter(({ dsat = false }) => dsat || !dissatisfied);
    return new Set(events.map(({ session }) => session)).size;
  }

  async firstDay(span: Span): Promise<number> {
    const first = Math.min(...this.#within(span).map(({ at }) => at));
    return first === Infinity ? Infinity : windowAt('DAY', 'UTC', first).start;
  }

  async processedAt(): Promise<number> {
    return this.#events.at(-1)?.storedAt ?? 0;
  }

  async users(span: Span): Promise<number> {
    return this.sessions(span);
  }

  async changes(span: Span, before: Span): Promise<readonly EntityChange[]> {
    const all = { groupBy: 'TOPIC', window: null, atLeast: 1, ids: null } as const;
    const [now, then] = await Promise.all([span, before].map((of) => this.entities({ ...all, span: of })));
    const [of, ofBefore] = [await this.sessions(span), await this.sessions(before)];
    const entities = [...new Map([...(then ?? []), ...(now ?? [])].map((one) => [one.id, one])).values()];
    const found = entities.map(({ id, name }) => {
      const [sessions, sessionsBefore] = [now, then].map(
        (list) => list?.find((one) => one.id === id)?.sessions ?? 0,
      );
      return {
        groupBy: 'TOPIC' as const,
        id,
        name,
        sessions: sessions ?? 0,
        sessionsBefore: sessionsBefore ?? 0,
      };
    });
    const chances = found.map((one) =>
      chanceOf({ with: one.sessions, of }, { with: one.sessionsBefore, of: ofBefore }),
    );
    const isReal = significant(chances, FALSE_ALARMS);
    return found
      .map((one) => ({ ...one, rises: one.sessions * ofBefore > one.sessionsBefore * of }))
      .filter((_, index) => isReal[index]);
  }

  async precision(): Promise<null> {
    return null;
  }

  async quotes(): Promise<readonly string[]> {
    return [];
  }

  #within({ start, end }: Span): Event[] {
    return this.#events.filter(({ at }) => at >= start && at < end);
  }
}
