import type {
  EntityChange,
  EntityChoice,
  EntityFigures,
  FixedFigures,
  Figures,
  ValueDifferences,
  ValueOnDay,
  ValuePair,
} from '../../../src/doors/alerts/figures.ts';
import type { SegmentChoice } from '../../../src/domain/attributes.ts';
import { localBucketAt } from '../../../src/domain/local-time.ts';
import { DAY_MICROS as DAY } from '../../../src/domain/time.ts';
import { type Span } from '../../../src/doors/alerts/windows.ts';
import { FALSE_ALARMS } from '../../../src/query/changes/changes-schema.ts';
import type { AttributeValues } from '../../../src/query/attributes-reader.ts';
import { chanceOf, chanceOfStrata, significant } from '../../../src/query/changes/significance.ts';

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

  /** What is fixed, as of a time. */
  readonly #fixed: (until: number) => readonly FixedFigures[];

  constructor(events: readonly Event[], fixed: (until: number) => readonly FixedFigures[] = () => []) {
    this.#events = events;
    this.#fixed = fixed;
    this.position = events.length;
  }

  of(segment: readonly SegmentChoice[]): Figures {
    if (segment.length === 0) return this;
    return new EventFigures(
      this.#events.filter(({ attributes = {} }) =>
        segment.every(
          ({ name, values, isLeftOut = false }) => values.includes(attributes[name] ?? '') !== isLeftOut,
        ),
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
    return first === Infinity ? Infinity : localBucketAt('DAY', 'UTC', first).start;
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

  async effects(timeZone: string, until: number): Promise<readonly FixedFigures[]> {
    this.asked.push(`effects ${timeZone}`);
    return this.#fixed(until);
  }

  async values(segmentKey: string, atLeast: number): Promise<AttributeValues> {
    this.asked.push(`values ${segmentKey}`);
    const begun = new Map<string, Map<number, number>>();
    for (const { session, at, attributes = {} } of this.#events) {
      const value = attributes[segmentKey];
      if (value === undefined) continue;
      const sessions = begun.get(value) ?? new Map<number, number>();
      begun.set(value, sessions.set(session, Math.min(at, sessions.get(session) ?? Infinity)));
    }
    const all = [...begun].map(([value, sessions]) => ({
      value,
      sessions: sessions.size,
      firstAt: Math.min(...sessions.values()),
    }));
    return {
      firstAt: all.length === 0 ? null : Math.min(...all.map(({ firstAt }) => firstAt)),
      values: all
        .filter(({ sessions }) => sessions >= atLeast)
        .toSorted((a, b) => b.sessions - a.sessions || (a.value < b.value ? -1 : 1)),
    };
  }

  async valuesByDay(segmentKey: string, start: number, timeZone: string): Promise<readonly ValueOnDay[]> {
    this.asked.push(`by day ${segmentKey}`);
    const found = new Map<string, { day: number; value: string; sessions: Set<number> }>();
    for (const { session, at, attributes = {} } of this.#events) {
      const value = attributes[segmentKey];
      if (value === undefined || at < start) continue;
      const day = localBucketAt('DAY', timeZone, at).start;
      const known = found.get(`${day} ${value}`) ?? { day, value, sessions: new Set() };
      found.set(`${day} ${value}`, { ...known, sessions: known.sessions.add(session) });
    }
    return [...found.values()].map((one) => ({ ...one, sessions: one.sessions.size }));
  }

  async differences(pair: ValuePair): Promise<ValueDifferences | null> {
    const { segmentKey, value, against, start, timeZone, falseAlarms } = pair;
    this.asked.push(`differences ${value} ${against} ${falseAlarms}`);
    const [a, b] = await Promise.all(
      [value, against].map((one) => {
        const own = this.#events.filter(
          ({ at, attributes = {} }) => at >= start && attributes[segmentKey] === one,
        );
        return own.map((event) => ({ ...event, day: localBucketAt('DAY', timeZone, event.at).start }));
      }),
    );
    const days = [...new Set(a!.map(({ day }) => day))].filter((day) => b!.some((one) => one.day === day));
    if (days.length === 0) return null;
    const count = (events: typeof a, topic?: string, day?: number): number =>
      new Set(
        events!
          .filter((one) => days.includes(one.day) && (day === undefined || one.day === day))
          .filter(({ topics = [] }) => topic === undefined || topics.includes(topic))
          .map(({ session }) => session),
      ).size;
    const topics = [...new Set([...a!, ...b!].flatMap(({ topics: own = [] }) => own))].toSorted();
    const chances = topics.map((topic) =>
      chanceOfStrata(
        days.map((day) => ({
          a: { with: count(a, topic, day), of: count(a, undefined, day) },
          b: { with: count(b, topic, day), of: count(b, undefined, day) },
        })),
      ),
    );
    const isReal = significant(chances, falseAlarms);
    const [sessions, sessionsAgainst] = [count(a), count(b)];
    return {
      span: { start: Math.min(...days), end: Math.max(...days) + DAY },
      sessions,
      sessionsAgainst,
      found: topics
        .map((id) => {
          const [share, shareAgainst] = [count(a, id) / sessions, count(b, id) / sessionsAgainst];
          const difference = share > shareAgainst ? ('more' as const) : ('less' as const);
          return { groupBy: 'TOPIC' as const, id, name: id, difference, share, shareAgainst };
        })
        .filter((_, index) => isReal[index]),
    };
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
