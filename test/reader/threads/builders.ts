import { Assigner, type AssignerOptions } from '../../../src/reader/threads/assigner.ts';
import type {
  Assignment,
  CorrectionRow,
  Enrichment,
  FoundGap,
  GapType,
  MessageFact,
  SessionRow,
  StateRow,
  Turn,
} from '../../../src/domain/facts.ts';
import { KINDS, slotOf } from '../../../src/domain/kinds.ts';
import type { Interlude } from '../../../src/domain/curations.ts';

export const INSTANCE_ID = '0190a000-0000-7000-8000-000000000001';
export const DIMENSIONS = 32;

/** A deterministic stand-in for an embedding: the sum of one pseudo-random direction per word. */
export function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    let state = 7;
    for (const letter of word) state = (Math.imul(state, 31) + letter.codePointAt(0)!) | 0;
    for (let index = 0; index < DIMENSIONS; index += 1) {
      state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
      vector[index]! += ((state >>> 8) & 0xffff) / 0x8000 - 1;
    }
  }
  const norm = Math.hypot(...vector);
  return norm === 0 ? vector : vector.map((component) => component / norm);
}

export interface EnrichedTurn {
  readonly turn: Turn;
  readonly enrichment: Enrichment;
}

type Options = Partial<Turn> &
  Partial<Pick<Enrichment, 'signals' | 'sentences' | 'kind' | 'isUnfamiliar'>> & {
    /** A type alone: the assistant does not say what it lacks. */
    readonly gap?: GapType | Pick<FoundGap, 'type' | 'words'> | null;
  };

/** A gap as the enricher finds it. */
export function gapOf(type: GapType, words = ''): FoundGap {
  return { type, words, isUnseen: false, language: 'en', vector: words === '' ? null : vectorOf(words) };
}

/** A turn with its enrichment; a user turn is a request unless `kind` says otherwise. */
export function enrichedTurn(position: number, content: string, options: Options = {}): EnrichedTurn {
  const { signals = [], sentences = [], gap = null, kind, isUnfamiliar = false, ...rest } = options;
  const instance = rest.instance ?? 1;
  const session = rest.session ?? 1;
  const turn: Turn = {
    position,
    instance,
    instanceId: instance === 1 ? INSTANCE_ID : INSTANCE_ID.replace(/1$/, String(instance)),
    session,
    sessionId: `0190a000-0000-7000-9000-${String(session).padStart(12, '0')}`,
    role: 'user',
    user: null,
    content,
    at: position * 1000,
    ...rest,
  };
  const turnKind = kind ?? (turn.role === 'user' ? 'request' : 'none');
  const isRequest = turnKind === 'request';
  return {
    turn,
    enrichment: {
      kind: turnKind,
      request: isRequest ? content : '',
      vector: isRequest ? vectorOf(content) : null,
      ...(isUnfamiliar ? { isUnfamiliar } : {}),
      sentences,
      signals,
      gap: gap === null ? null : typeof gap === 'string' ? gapOf(gap) : gapOf(gap.type, gap.words),
    },
  };
}

export const OPTIONS: AssignerOptions = {
  thresholds: { micro: 0.7, topic: 0.42, cluster: 0.25, repeated: 0.55 },
  dimensions: DIMENSIONS,
  detectLanguage: (text) => (text.length < 24 ? null : text.includes(' ich ') ? 'de' : 'en'),
};

function corrected(message: MessageFact, { kind, slot, entity }: CorrectionRow): MessageFact {
  if (kind === KINDS.gap) return { ...message, gap: entity };
  if (kind === KINDS.repeatedRequest) return { ...message, repeatedRequest: entity };
  const others = message.signals.filter((signal) => slotOf(kind, signal) !== slot);
  return {
    ...message,
    signals: (entity === null ? others : [...others, entity]).toSorted((x, y) => x - y),
  };
}

/** What the store would hold after a stream: final rows by key, and assign's own state. */
export class Store {
  assigner: Assigner;
  readonly rows = new Map<string, unknown>();
  readonly state = new Map<string, StateRow>();
  readonly batches: Assignment[] = [];
  readonly #options: AssignerOptions;

  constructor(options: AssignerOptions = OPTIONS) {
    this.#options = options;
    this.assigner = new Assigner(options);
  }

  /** Restores what the batch needs, assigns it, keeps rows and state. */
  fold(batch: readonly EnrichedTurn[], interludes: readonly Interlude[] = []): Assignment {
    for (const { instance, instanceId, session } of [...batch.map(({ turn }) => turn), ...interludes]) {
      if (!this.assigner.hasInstance(instance)) {
        const rows = [...this.state.values()].filter(
          (row) => row.instance === instance && row.kind !== 'session',
        );
        this.assigner.restoreInstance(instance, instanceId, rows);
      }
      if (session !== null && !this.assigner.hasSession(instance, session)) {
        const value = this.state.get(`${instance} session ${session}`)?.value ?? null;
        this.assigner.restoreSession(instance, session, value);
      }
    }
    const result = this.assigner.assign(
      batch.map(({ turn }) => turn),
      batch.map(({ enrichment }) => enrichment),
      interludes.map((one) => this.#withShown(one)),
    );
    this.batches.push(result);
    for (const message of result.messages) this.rows.set(`message ${message.position}`, { ...message });
    for (const row of result.corrections)
      this.rows.set(`message ${row.position}`, corrected(this.row(`message ${row.position}`), row));
    for (const row of result.micros) this.rows.set(`micro ${row.instance} ${row.micro}`, row.topic);
    for (const row of result.topics) this.rows.set(`topic ${row.instance} ${row.topic}`, row);
    for (const row of result.clusters) this.rows.set(`cluster ${row.instance} ${row.cluster}`, row);
    for (const row of result.signals) this.rows.set(`signal ${row.instance} ${row.signal}`, row);
    for (const row of result.repeatedRequests) {
      this.rows.set(`repeated ${row.instance} ${row.repeatedRequest}`, row);
    }
    for (const row of result.gaps) this.rows.set(`gap ${row.instance} ${row.gap}`, row);
    for (const row of result.curations) this.rows.set(`curation ${row.instance} ${row.curation}`, row);
    for (const row of result.sessions) this.rows.set(`session ${row.session}`, row);
    for (const { session, outcome } of result.outcomes)
      this.rows.set(`session ${session}`, { ...this.row<SessionRow>(`session ${session}`), outcome });
    for (const { instance, session, user, beforePosition } of result.openingAuthors) {
      for (const [key, row] of this.rows) {
        const message = row as { instance: number; session: number; position: number };
        if (!key.startsWith('message ') || message.instance !== instance || message.session !== session)
          continue;
        if (message.position < beforePosition) this.rows.set(key, { ...message, user });
      }
    }
    for (const row of this.assigner.takeState()) {
      const key = `${row.instance} ${row.kind} ${row.key}`;
      if (row.value === null) this.state.delete(key);
      else this.state.set(key, row);
    }
    return result;
  }

  /** As the worker does, gives a correction what a stored message or session shows. */
  #withShown(interlude: Interlude): Interlude {
    if (!('curation' in interlude)) return interlude;
    const { action } = interlude.curation;
    if ('outcome' in action) {
      const session = [...this.rows].find(
        ([key, row]) => key.startsWith('session ') && (row as SessionRow).id === action.id,
      );
      return { ...interlude, ended: (session?.[1] as SessionRow | undefined) ?? null };
    }
    if (!('position' in action)) return interlude;
    const shown = this.rows.get(`message ${action.position}`) as MessageFact | undefined;
    return { ...interlude, shown: shown ?? null };
  }

  /** Forgets all but what was stored, as a new process would. */
  restart(): void {
    this.assigner = new Assigner(this.#options);
  }

  /** Everything that is stored, in an order of its own. */
  snapshot(): [string, unknown][] {
    const state = [...this.state].map(([key, { value }]): [string, unknown] => [
      `state ${key}`,
      Buffer.from(value!).toString('base64'),
    ]);
    return [...this.rows, ...state].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  row<T>(key: string): T {
    return this.rows.get(key) as T;
  }

  /** Name of the topic that the message at `position` has now, or null. */
  topicName(position: number): string | null {
    const message = this.row<{ instance: number; micro: number | null }>(`message ${position}`);
    if (message.micro === null) return null;
    const topic = this.row<number | null>(`micro ${message.instance} ${message.micro}`);
    return topic === null ? null : this.row<{ name: string }>(`topic ${message.instance} ${topic}`).name;
  }
}
