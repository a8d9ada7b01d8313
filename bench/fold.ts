import { rmSync } from 'node:fs';
import { SIGNALS, type Assignment, type MessageFact } from '../src/domain/facts.ts';
import { openFixture, temporaryDirectory, assignment, uuid, type Fixture } from '../test/support/fold.ts';

const MESSAGES_PER_SESSION = 10;
const TOPICS = 200;
const SESSIONS_AT_ONCE = 200;

interface OpenSession {
  readonly session: number;
  readonly user: number;
  left: number;
  micro: number;
}

/** A synthetic stream: sessions of 10 messages that overlap, topics after Zipf, every kind of entity. */
export class SyntheticStream {
  #state = 1;
  #position = 0;
  #sessions = 0;
  #at: number;
  readonly #open: OpenSession[] = [];
  readonly #stepMicros: number;

  constructor(messages: number, days: number, start = Date.UTC(2025, 10, 20) * 1000) {
    this.#at = start;
    this.#stepMicros = Math.floor((days * 86_400e6) / messages);
  }

  #random(): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return this.#state / 2 ** 32;
  }

  next(count: number): Assignment {
    const messages: MessageFact[] = [];
    const sessions: Assignment['sessions'][number][] = [];
    const first = this.#position === 0;
    for (let i = 0; i < count; i++) {
      this.#position += 1;
      this.#at += this.#stepMicros;
      if (this.#open.length < SESSIONS_AT_ONCE) {
        const session = (this.#sessions += 1);
        const user = 1 + Math.floor(this.#random() * Math.max(10, session / 5));
        this.#open.push({ session, user, left: MESSAGES_PER_SESSION, micro: 1 });
        sessions.push({
          instance: 1,
          session,
          id: uuid(3, session),
          user,
          title: `session ${session}`,
          summary: null,
          language: 'en',
        });
      }
      const at = Math.floor(this.#random() * this.#open.length);
      const turn = this.#open[at] as OpenSession;
      if (turn.left % 4 === 2) turn.micro = Math.floor(TOPICS ** this.#random());
      turn.left -= 1;
      if (turn.left === 0) this.#open.splice(at, 1);
      const draw = this.#random();
      messages.push({
        position: this.#position * 32,
        instance: 1,
        session: turn.session,
        user: turn.user,
        at: this.#at,
        micro: turn.micro,
        signals: draw < 0.11 ? [Math.floor(draw * 100) % SIGNALS.length] : [],
        repeatedRequest: draw > 0.98 ? 1 + (this.#position % 20) : null,
        gap: draw > 0.96 && draw < 0.98 ? 1 + (this.#position % 20) : null,
      });
    }
    const numbered = <T>(count: number, row: (number: number) => T): T[] =>
      first ? Array.from({ length: count }, (_, index) => row(index + 1)) : [];
    return assignment({
      messages,
      sessions,
      micros: numbered(TOPICS, (micro) => ({ instance: 1, micro, topic: micro })),
      topics: numbered(TOPICS, (topic) => ({
        instance: 1,
        topic,
        id: uuid(5, topic),
        name: `topic ${topic}`,
        cluster: 1 + (topic % 20),
      })),
      clusters: numbered(20, (cluster) => ({
        instance: 1,
        cluster,
        id: uuid(6, cluster),
        name: `cluster ${cluster}`,
      })),
      signals: first
        ? SIGNALS.map((signal, number) => ({
            instance: 1,
            signal: number,
            id: uuid(7, number),
            name: signal.name,
            signalType: signal.type,
            description: signal.description,
          }))
        : [],
      repeatedRequests: numbered(20, (repeatedRequest) => ({
        instance: 1,
        repeatedRequest,
        id: uuid(8, repeatedRequest),
        name: `repeat ${repeatedRequest}`,
        description: '',
      })),
      gaps: numbered(20, (gap) => ({
        instance: 1,
        gap,
        id: uuid(4, gap),
        name: `gap ${gap}`,
        description: '',
        gapType: gap % 2 === 0 ? 'TOOL' : 'KNOWLEDGE',
      })),
    });
  }
}

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] as number;

async function measure(
  fixture: Fixture,
  stream: SyntheticStream,
  batch: number,
  batches: number,
): Promise<void> {
  const folds: number[] = [];
  const publishes: number[] = [];
  for (let i = 0; i < batches; i++) {
    const work = stream.next(batch);
    let startedAt = performance.now();
    await fixture.fold(work);
    folds.push(performance.now() - startedAt);
    startedAt = performance.now();
    await fixture.publish();
    publishes.push(performance.now() - startedAt);
  }
  const total = [...folds, ...publishes].reduce((sum, value) => sum + value, 0);
  console.log(
    `batch ${batch}: fold p50 ${percentile(folds, 0.5).toFixed(0)} ms, publish p50 ${percentile(publishes, 0.5).toFixed(0)} ms, ${Math.round((batch * batches * 1000) / total)} messages/s`,
  );
}

/** `npm run bench -- fold [messages of history]`: fold, commit and publish at several batch sizes. */
export async function run(args: readonly string[]): Promise<void> {
  const history = Number(args[0] ?? 100_000);
  const directory = temporaryDirectory();
  const fixture = await openFixture({ directory: directory.path, threads: 2 });
  const stream = new SyntheticStream(history + 200_000, 365);
  const startedAt = performance.now();
  for (let done = 0; done < history; done += 50_000) {
    await fixture.fold(stream.next(Math.min(50_000, history - done)));
    await fixture.publish();
  }
  await fixture.publication.settle();
  console.log(
    `history of ${history} messages: ${Math.round((history * 1000) / (performance.now() - startedAt))} messages/s`,
  );
  await measure(fixture, stream, 500, 20);
  await measure(fixture, stream, 5_000, 6);
  await measure(fixture, stream, 50_000, 2);
  await fixture.close();
  rmSync(directory.path, { recursive: true, force: true });
}
