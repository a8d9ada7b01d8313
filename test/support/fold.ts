import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Assignment, MessageFact, StateRow } from '../../src/domain/facts.ts';
import { Publication } from '../../src/store/published/publication.ts';
import type { Batch } from '../../src/store/live/batch.ts';
import { StateStore } from '../../src/store/live/state-store.ts';
import { SnapshotReader } from '../../src/store/published/snapshot-reader.ts';
import { loadViews, type View } from '../../src/store/view-files.ts';

/** A folder of the test's own, removed at the end of the process or by `remove`. */
export function temporaryDirectory(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'undertone-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export const VIEWS: readonly View[] = loadViews(new URL('../../views', import.meta.url).pathname);

/** `00000000-0000-8000-8000-…` with a number in it: ids that sort as their numbers. */
export function uuid(kind: number, number: number): string {
  return `00000000-0000-8${String(kind).padStart(3, '0')}-8000-${number.toString(16).padStart(12, '0')}`;
}

/** An assignment of nothing; a test states only what matters. */
export function assignment(parts: Partial<Assignment> = {}): Assignment {
  return {
    messages: [],
    micros: [],
    topics: [],
    clusters: [],
    signals: [],
    repeatedRequests: [],
    gaps: [],
    labels: [],
    labelMicros: [],
    sessions: [],
    openingAuthors: [],
    curations: [],
    corrections: [],
    outcomes: [],
    ...parts,
  };
}

/** A message of the facts' kind, with every field filled. */
export function fact(parts: Partial<MessageFact> & Pick<MessageFact, 'position'>): MessageFact {
  return {
    instance: 1,
    session: 1,
    user: null,
    at: Date.UTC(2026, 0, 1) * 1000,
    micro: null,
    signals: [],
    repeatedRequest: null,
    gap: null,
    wait: 0,
    ...parts,
  };
}

/** What the entries behind a batch say, where it is not simply the entry after the last. */
export interface Entries {
  /** Stream sequence of the last of them. */
  readonly sequence?: number;
  /** Stream sequence of the last of them that belongs to an instance; default: `sequence`. */
  readonly lastSequenceOf?: (instance: number) => number;
  /** Microseconds since 1970-01-01 UTC; default: a second for each sequence. */
  readonly processedAt?: number;
  /** Sessions that their caller names. Default: none. */
  readonly sessionNames?: Batch['sessionNames'];
  /** Attributes of sessions. Default: none. */
  readonly attributes?: Batch['attributes'];
  /** Feedback of end users. Default: none. */
  readonly feedback?: Batch['feedback'];
  /** Default: what makes the attributes. */
  readonly metadata?: Batch['metadata'];
  /** Those that the entries bring. Default: none. */
  readonly requests?: Batch['requests'];
  /** What their caller calls end users. Default: `user-` and the number. */
  readonly externalIdOf?: (user: number) => string;
}

export interface Fixture {
  readonly directory: string;
  readonly store: StateStore;
  readonly publication: Publication;
  readonly reader: SnapshotReader;
  /** Applies an assignment as the entry after the last; new end users and instances are found by themselves. */
  fold(assignment: Assignment, state?: readonly StateRow[], entries?: Entries): Promise<void>;
  /** Commits the last batch once more, as a second worker would. */
  redeliver(): Promise<void>;
  publish(): Promise<void>;
  /** Closes what the worker has open, does what there is to do meanwhile, and opens it again; the reader stays. */
  restart(meanwhile?: () => Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

/** A state store, its publication and a reader on real files. */
export async function openFixture(
  options: {
    compactRows?: number;
    compactRatio?: number;
    directory?: string;
    views?: readonly View[];
    threads?: number;
    memoryBytes?: number;
    /** Milliseconds; with it, replaced files are kept for a second. Default: for no time. */
    now?: () => number;
  } = {},
): Promise<Fixture> {
  const temporary =
    options.directory === undefined
      ? temporaryDirectory()
      : { path: options.directory, remove: () => undefined };
  const views = options.views ?? VIEWS;
  const openStore = (): Promise<StateStore> =>
    StateStore.open({
      directory: temporary.path,
      views,
      analysis: 'test',
      threads: options.threads ?? 1,
      ...(options.memoryBytes === undefined ? {} : { memoryBytes: options.memoryBytes }),
      spillDirectory: join(temporary.path, 'spill'),
    });
  const openPublication = (of: StateStore): Publication =>
    new Publication({
      store: of,
      graceMs: options.now === undefined ? 0 : 1000,
      compactRows: options.compactRows ?? 20_000,
      compactRatio: options.compactRatio ?? 8,
      now: options.now ?? (() => 0),
      onError: (error) => {
        throw error;
      },
    });
  let store = await openStore();
  let publication = openPublication(store);
  const reader = await SnapshotReader.open({
    directory: () => temporary.path,
    views,
    threads: 1,
    connections: 2,
  });
  const knownUsers = new Set<number>();
  const sessionIds = new Map<number, string>();
  let last: Batch | null = null;
  return {
    directory: temporary.path,
    get store() {
      return store;
    },
    get publication() {
      return publication;
    },
    reader,
    async fold(work, state = [], entries = {}) {
      const feedback = entries.feedback ?? [];
      const instances = [...new Set([...work.messages, ...feedback].map(({ instance }) => instance))];
      const endUsers = [];
      for (const { user, instance } of [...work.messages, ...work.openingAuthors]) {
        if (user === null || knownUsers.has(user)) continue;
        knownUsers.add(user);
        const externalId = entries.externalIdOf?.(user) ?? `user-${user}`;
        endUsers.push({ instance, endUser: user, id: uuid(2, user), externalId });
      }
      for (const { session, id } of work.sessions) sessionIds.set(session, id);
      const { attributes = [] } = entries;
      const sequence = entries.sequence ?? store.sequence + 1;
      last = {
        expectedSequence: store.sequence,
        lastEntry: '',
        sequence,
        processedAt: entries.processedAt ?? sequence * 1_000_000,
        instances: instances.map((instance) => ({
          instance,
          id: uuid(1, instance),
          projectId: uuid(0, 1),
          lastSequence: entries.lastSequenceOf?.(instance) ?? sequence,
        })),
        endUsers,
        requests: entries.requests ?? [],
        // Attributes are members of metadata.
        metadata:
          entries.metadata ??
          attributes.map(({ instance, session, name, value }) => ({
            instance,
            record: 'session',
            key: sessionIds.get(session) ?? '',
            member: name,
            value: JSON.stringify(value),
          })),
        attributes,
        sessionNames: entries.sessionNames ?? [],
        feedback,
        assignment: work,
        state,
        counters: store.counters,
      };
      await store.commit(last);
    },
    async redeliver() {
      if (last !== null) await store.commit(last);
    },
    publish: () => publication.publish(),
    async restart(meanwhile) {
      await publication.close();
      await store.close();
      await meanwhile?.();
      store = await openStore();
      publication = openPublication(store);
    },
    async close() {
      await publication.close();
      await reader.close();
      await store.close();
      temporary.remove();
    },
  };
}
