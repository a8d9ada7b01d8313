import { Shares } from '../../../domain/shares.ts';
import { FairQueue } from '../../../domain/turns.ts';
import type { Observation } from '../observation.ts';
import type { TraceEntry } from '../trace-entry.ts';
import type { ReadyTraces } from './assembly.ts';
import { ProjectTraces, type Held } from './project-traces.ts';
import { SpanLinks } from './span-links.ts';
import { isComplete, type SeenSpan } from './spoken-spans.ts';
import type { ArrivedTrace } from './trace-plan.ts';

export interface TraceBufferOptions {
  /** A trace waits for missing parents of its spans until its last span arrived this long ago. */
  readonly waitMs: number;
  /** Waiting spans of all projects take about this much memory at most. */
  readonly maxBytes: number;
  /** Returns milliseconds that never go back. */
  readonly now: () => number;
  /** The buffer remembers this many spans of traces that it has let go. Default 50,000. */
  readonly linksKept?: number;
}

/** A parsed span with a trace of its own, and each of its messages, take this much memory besides their texts. */
const [OBSERVATION_BYTES, MESSAGE_BYTES] = [1500, 60];
const LINKS_KEPT = 50_000;
/**
 * A trace that keeps getting spans waits at most this many times `waitMs`, because the stream keeps all later entries
 * meanwhile.
 */
const LONGEST_WAITS = 4;

/** Each trace that becomes ready gives its project one turn. */
interface Turn {
  readonly project: ProjectTraces;
}

/**
 * Holds the spans of a trace until all their parents have arrived or the wait is over. Then the trace is ready.
 * Projects take turns with their ready traces.
 */
export class TraceBuffer implements ReadyTraces {
  readonly #options: TraceBufferOptions;
  readonly #projects = new Map<string, ProjectTraces>();
  readonly #room: Shares;
  readonly #turns = new FairQueue<Turn>();
  /** The assembler has yet to ask for the records of these traces, which lack parents of their spans. */
  readonly #lacking = new FairQueue<Held>();
  readonly #links: SpanLinks;
  /** The stream holds more entries of these projects. Their traces wait for those as long as memory allows it. */
  readonly #behind = new Set<string>();

  constructor(options: TraceBufferOptions) {
    this.#options = options;
    this.#room = new Shares(options.maxBytes);
    this.#links = new SpanLinks(options.linksKept ?? LINKS_KEPT);
  }

  /** How many spans the buffer remembers of traces that it has let go. */
  get linked(): number {
    return this.#links.size;
  }

  get traces(): number {
    let traces = 0;
    for (const project of this.#projects.values()) traces += project.traces;
    return traces;
  }

  /** About how many bytes the waiting spans take. */
  get held(): number {
    return this.#room.held;
  }

  /** The sequence of the oldest entry with a span that waits; Infinity when nothing waits. */
  get oldestSequence(): number {
    let oldest = Infinity;
    for (const project of this.#projects.values()) oldest = Math.min(oldest, project.oldestSequence);
    return oldest;
  }

  /** Milliseconds until the next trace has waited long enough, or 0 when one is ready; null when none waits. */
  get nextMs(): number | null {
    let next: number | null = null;
    for (const [projectId, { readyCount, longestUnchanged }] of this.#projects) {
      if (readyCount > 0) return 0;
      if (longestUnchanged === undefined || this.#behind.has(projectId)) continue;
      const ms = longestUnchanged.changedAt + this.#options.waitMs - this.#options.now();
      next = Math.min(next ?? Infinity, Math.max(0, ms));
    }
    return next;
  }

  /** How many spans and log records of a project wait. */
  spansOf(projectId: string): number {
    return this.#projects.get(projectId)?.spans ?? 0;
  }

  /** The projects that have waiting spans. */
  get projects(): Iterable<string> {
    return this.#projects.keys();
  }

  /** Tells whether a project may hold this many bytes more. */
  fits(projectId: string, bytes: number): boolean {
    return this.#room.fits(projectId, bytes);
  }

  /** Notes whether the stream holds more entries of a project than memory has room for. */
  setBehind(projectId: string, isBehind: boolean): void {
    if (isBehind) this.#behind.add(projectId);
    else this.#behind.delete(projectId);
  }

  add(entry: TraceEntry, sequence: number): void {
    const { projectId, instanceId, defaultInstanceId } = entry;
    const unknown = new Set(entry.unknownInstanceIds);
    const now = this.#options.now();
    for (const observation of entry.observations) {
      if (instanceId === null && unknown.has(observation.instanceId ?? '')) continue;
      const { traceId, startedAt } = observation;
      const project = this.#projectOf(projectId);
      const bytes = bytesOf(observation);
      const held = project.touch(traceId, () => ({
        projectId,
        traceId,
        defaultInstanceId,
        observations: [],
        since: sequence,
        until: sequence,
        heldAt: now,
        bytes: 0,
        changedAt: now,
        startedAt,
        isRecalled: false,
        isReady: false,
      }));
      held.observations.push(instanceId === null ? observation : { ...observation, instanceId });
      held.since = Math.min(held.since, sequence);
      held.until = Math.max(held.until, sequence);
      held.changedAt = now;
      held.startedAt = Math.min(held.startedAt, startedAt);
      held.bytes += bytes;
      project.bytes += bytes;
      project.spans += 1;
      this.#room.take(projectId, bytes);
    }
  }

  /** Returns each trace that lacks parents of its spans once: another process may have let the parents go. */
  takeLacking(most: number): Pick<ArrivedTrace, 'projectId' | 'traceId'>[] {
    this.#look();
    const lacking: Held[] = [];
    while (lacking.length < most) {
      const held = this.#lacking.take();
      if (held === undefined) break;
      if (!held.isReady) lacking.push(held);
    }
    return lacking;
  }

  /** Remembers spans of a trace that were let go before. */
  recall(
    { projectId, traceId }: Pick<ArrivedTrace, 'projectId' | 'traceId'>,
    spans: readonly SeenSpan[],
  ): void {
    this.#links.add(linkKey(projectId, traceId), spans);
    this.#projects.get(projectId)?.refresh(traceId);
  }

  /** Returns at most `most` traces whose turn comes next. */
  upcoming(most: number): readonly ArrivedTrace[] {
    this.#look();
    const lanes = [...this.#projects.values()].map((project) => project.upcoming(most));
    const found: ArrivedTrace[] = [];
    for (let index = 0; found.length < most && lanes.some((lane) => index < lane.length); index += 1)
      for (const lane of lanes) found.push(...lane.slice(index, index + 1));
    return found.slice(0, most);
  }

  /** Takes the earliest trace of the project whose turn it is. */
  next(): ArrivedTrace | undefined {
    this.#look();
    for (let turn = this.#turns.take(); turn !== undefined; turn = this.#turns.take()) {
      const held = turn.project.take();
      if (held === undefined) continue;
      this.#letGo(turn.project, held);
      return held;
    }
    return undefined;
  }

  giveBack(trace: ArrivedTrace): void {
    const held = trace as Held;
    const project = this.#projectOf(held.projectId);
    project.giveBack(held);
    project.bytes += held.bytes;
    project.spans += held.observations.length;
    this.#room.take(held.projectId, held.bytes);
    this.#turns.push(held.projectId, { project });
  }

  /** Makes room for `bytes`: the oldest traces of the project that holds most wait no longer. */
  press(bytes: number): void {
    let most: ProjectTraces | undefined;
    for (const project of this.#projects.values())
      if (most === undefined || project.bytes > most.bytes) most = project;
    // Its ready traces make room as soon as they are assembled.
    if (most === undefined || most.readyCount > 0) return;
    let pressed = 0;
    for (let held = most.longestUnchanged; held !== undefined; held = most.longestUnchanged) {
      if (pressed >= bytes) return;
      pressed += held.bytes;
      this.#makeReady(most, held);
    }
  }

  /** Finds out which traces are complete, or have waited long enough. */
  #look(): void {
    const { now, waitMs } = this.#options;
    const before = now() - waitMs;
    const longBefore = now() - LONGEST_WAITS * waitMs;
    for (const [projectId, project] of this.#projects) {
      for (const held of project.takeFresh()) {
        const links = this.#links.of(linkKey(projectId, held.traceId));
        if (isComplete(held.observations, links)) this.#makeReady(project, held);
        else if (!held.isRecalled) {
          held.isRecalled = true;
          this.#lacking.push(projectId, held);
        }
      }
      if (this.#behind.has(projectId)) continue;
      for (let held = project.longestUnchanged; held !== undefined; held = project.longestUnchanged) {
        if (held.changedAt > before) break;
        this.#makeReady(project, held);
      }
      for (let held = project.oldest; held !== undefined; held = project.oldest) {
        if (held.heldAt > longBefore) break;
        this.#makeReady(project, held);
      }
    }
  }

  #makeReady(project: ProjectTraces, held: Held): void {
    project.makeReady(held);
    this.#turns.push(held.projectId, { project });
  }

  #letGo(project: ProjectTraces, held: Held): void {
    const { projectId, traceId, observations, bytes } = held;
    project.bytes -= bytes;
    project.spans -= observations.length;
    this.#room.giveBack(projectId, bytes);
    if (project.isEmpty) this.#projects.delete(projectId);
    this.#links.add(
      linkKey(projectId, traceId),
      observations.filter(({ kind }) => kind !== 'event'),
    );
  }

  #projectOf(projectId: string): ProjectTraces {
    let project = this.#projects.get(projectId);
    if (project === undefined) {
      project = new ProjectTraces();
      this.#projects.set(projectId, project);
    }
    return project;
  }
}

function linkKey(projectId: string, traceId: string): string {
  return `${projectId} ${traceId}`;
}

/** Estimates the bytes that a span takes in memory. */
export function bytesOf({ asked, answered }: Observation): number {
  let bytes = OBSERVATION_BYTES;
  for (const { content } of asked) bytes += MESSAGE_BYTES + 2 * content.length;
  for (const { content } of answered) bytes += MESSAGE_BYTES + 2 * content.length;
  return bytes;
}
