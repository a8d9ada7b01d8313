import { createHash } from 'node:crypto';
import { RefusedError, UnavailableError } from './client.ts';
import type { IngestAnswer, IngestBody, OpenedInstance, QueryAnswer } from './client.ts';
import { convert, type Place } from './converter.ts';
import { DigestCounts } from './digest-counts.ts';
import { OmissionCounts, type Omissions } from '../traces/omissions.ts';
import { usersOf } from './mapper.ts';
import type { Conversation, IngestMessage } from './mapper.ts';
import { partsOf } from './parts.ts';
import { planFiles, sizeOf, type FilePlan } from './plan.ts';
import { earlierSessionIdsOf, sessionIdOf } from './sessions.ts';
import { WarningCounts, type Warning } from './warnings.ts';

/** What the importer needs of the service. */
export interface ImportTarget {
  ingest(body: IngestBody, idempotencyKey: string): Promise<IngestAnswer>;
  query(params: Readonly<Record<string, string>>, waitFor?: string): Promise<QueryAnswer>;
  openInstance(options: { readonly name?: string; readonly default?: true }): Promise<OpenedInstance>;
}

/** The instance that conversations go into: one that there is, the project's default, or a new one. */
export type Destination =
  | { readonly kind: 'named'; readonly instanceId: string }
  | { readonly kind: 'default' }
  | { readonly kind: 'new'; readonly name?: string };

/** A place in a file where something was left out, and why. */
export interface Finding {
  readonly file: string;
  /** Counted from 1; a line, or what `unit` says. */
  readonly line: number;
  readonly unit?: 'entry' | 'row';
  readonly message: string;
}

/** Hears of what happens, as it happens. */
export interface ImportObserver {
  /** The instance is known; nothing has been sent yet. `opened` is null when it was named from the start. */
  instance?(instanceId: string, opened: OpenedInstance | null): void;
  progress?(progress: ImportProgress): void;
  /** Something was left out that the file cannot be blamed for (an empty turn) or should be told about. */
  notice?(finding: Finding): void;
  /** A line was not imported. */
  failure?(finding: Finding): void;
  /** The service says something of an accepted line for the first time. */
  warning?(finding: Finding): void;
}

export interface ImportProgress {
  readonly readBytes: number;
  readonly totalBytes: number;
  readonly conversations: number;
  readonly messages: number;
}

export interface ImportOptions {
  /** How each file is read. */
  readonly plans: readonly FilePlan[];
  readonly into: Destination;
  /** Of lines that name none, in place of their file's name; '': their ids alone name them. */
  readonly source?: string;
  /** The end user of conversations that name none. */
  readonly user?: string;
  readonly target: ImportTarget;
  /** Conversations in flight. */
  readonly concurrency: number;
  readonly observer?: ImportObserver;
  /** Stops reading; what is in flight is finished. */
  readonly signal?: AbortSignal;
}

export interface ImportSummary {
  readonly instanceId: string | null;
  /** Conversations of which something was sent. A repeat within a day is answered but not stored again. */
  readonly conversations: number;
  readonly messages: number;
  /** Conversations that the service already held in full. */
  readonly alreadyThere: number;
  /** Messages of conversations that the service already held. */
  readonly messagesAlreadyThere: number;
  /** Distinct end users of all conversations, sent or already there. */
  readonly users: number;
  readonly emptyTurns: number;
  readonly failedLines: number;
  /** What no message was made of, and how often, by the reason. */
  readonly leftOut: Omissions;
  /** What the service says of accepted messages, each distinct warning once. */
  readonly warnings: readonly Warning[];
  /** Why the import ended early; null when every line was read. */
  readonly stopped: Error | null;
  readonly interrupted: boolean;
  readonly durationMs: number;
  /** Where the last accepted conversation stands, to wait for; null when nothing was sent. */
  readonly last: { readonly position: string; readonly sessionId: string; readonly messages: number } | null;
}

interface Placed {
  readonly place: Place;
  readonly conversation: Conversation;
}

/** Of the instance that imports go into when nobody names one. */
const DEFAULT_NAME = 'default';
/** Conversations looked up together: three 36-character ids each keep the address below 8 KB. */
const LOOKUP_SIZE = 64;

/**
 * Sends every conversation of the files, each to a session of its own, some at a time; the messages of
 * one conversation keep their order. Safe to repeat: conversations that the service shows in full are
 * passed over, those it shows in part are continued, and what it has accepted but not yet processed is
 * recognised by its idempotency key. Never throws for what a line, a file or the service does wrong:
 * the summary says it.
 */
export async function importPlanned(options: ImportOptions): Promise<ImportSummary> {
  return await new Import(options, () => Promise.resolve(options.plans)).run();
}

/** The same for files whose format is recognised, without asking anybody. */
export async function importFiles(
  options: Omit<ImportOptions, 'plans'> & { readonly files: readonly string[] },
): Promise<ImportSummary> {
  return await new Import(options, () => planFiles(options.files)).run();
}

class Import {
  readonly #options: Omit<ImportOptions, 'plans'>;
  readonly #planned: () => Promise<readonly FilePlan[]>;
  readonly #observer: ImportObserver;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #users = new DigestCounts();
  /** Messages of each session that were sent in this import: queries may not show them yet. */
  readonly #sent = new DigestCounts();
  readonly #warnings = new WarningCounts();
  readonly #leftOut = new OmissionCounts();
  #instanceId: string | null;
  #stopped: Error | null = null;
  #conversations = 0;
  #messages = 0;
  #alreadyThere = 0;
  #messagesAlreadyThere = 0;
  #emptyTurns = 0;
  #failedLines = 0;
  #readBytes = 0;
  #totalBytes = 0;
  #last: ImportSummary['last'] = null;

  constructor(options: Omit<ImportOptions, 'plans'>, planned: () => Promise<readonly FilePlan[]>) {
    this.#options = options;
    this.#planned = planned;
    this.#observer = options.observer ?? {};
    this.#instanceId = options.into.kind === 'named' ? options.into.instanceId.toLowerCase() : null;
  }

  async run(): Promise<ImportSummary> {
    const startedAt = performance.now();
    try {
      const plans = await this.#planned();
      this.#totalBytes = plans.reduce((sum, plan) => sum + sizeOf(plan), 0);
      if (this.#instanceId !== null) this.#observer.instance?.(this.#instanceId, null);
      let before = 0;
      for (const plan of plans) {
        await this.#importFile(plan, before);
        if (this.#ended) break;
        before += sizeOf(plan);
      }
    } catch (error) {
      this.#stop(error);
    }
    await Promise.all(this.#inFlight);
    this.#report();
    return {
      instanceId: this.#instanceId,
      conversations: this.#conversations,
      messages: this.#messages,
      alreadyThere: this.#alreadyThere,
      messagesAlreadyThere: this.#messagesAlreadyThere,
      users: this.#users.size,
      emptyTurns: this.#emptyTurns,
      failedLines: this.#failedLines,
      leftOut: this.#leftOut.all,
      warnings: this.#warnings.all(),
      stopped: this.#stopped,
      interrupted: this.#options.signal?.aborted === true,
      durationMs: performance.now() - startedAt,
      last: this.#last,
    };
  }

  get #ended(): boolean {
    return this.#stopped !== null || this.#options.signal?.aborted === true;
  }

  #stop(error: unknown): void {
    this.#stopped ??= error instanceof Error ? error : new Error(String(error));
  }

  async #importFile(plan: FilePlan, bytesBefore: number): Promise<void> {
    let batch: Placed[] = [];
    const onRead = (bytes: number): void => {
      this.#readBytes = bytesBefore + bytes;
    };
    const { source, user } = this.#options;
    const named = { ...(source === undefined ? {} : { source }), ...(user === undefined ? {} : { user }) };
    try {
      for await (const converted of convert(plan, { onRead, ...named })) {
        if (this.#ended) return;
        const { place, number } = converted;
        if ('fault' in converted) this.#fail(place, number, converted.fault);
        else if ('leftOut' in converted) this.#leftOut.add(converted.leftOut);
        else {
          this.#noteOmissions(place, converted.conversation, converted.emptyTurns);
          this.#leftOut.addAll(converted.omitted);
          batch.push({ place, conversation: converted.conversation });
          if (batch.length === LOOKUP_SIZE) {
            await this.#sendBatch(batch);
            batch = [];
          }
        }
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#stop(new Error(`${plan.parts[0].input.name}: ${message}`, { cause: error }));
    }
    if (this.#options.signal?.aborted !== true) await this.#sendBatch(batch);
    // The next file may hold the same conversations, longer.
    await Promise.all(this.#inFlight);
  }

  #noteOmissions(place: Place, conversation: Conversation, emptyTurns: readonly number[]): void {
    const { line } = conversation;
    if (emptyTurns.length > 0) {
      this.#emptyTurns += emptyTurns.length;
      const list = emptyTurns.slice(0, 10).join(', ') + (emptyTurns.length > 10 ? ', …' : '');
      this.#observer.notice?.({ ...place, line, message: `empty turn left out: ${list}` });
    }
  }

  #fail(place: Place, line: number, message: string): void {
    this.#failedLines += 1;
    this.#observer.failure?.({ ...place, line, message });
  }

  /** Looks up what the service holds of these conversations, then sends what is missing. */
  async #sendBatch(batch: readonly Placed[]): Promise<void> {
    if (batch.length === 0 || this.#ended) return;
    let instanceId: string;
    let held: ReadonlyMap<string, number>;
    try {
      instanceId = this.#instanceId ?? (await this.#openInstance());
      held = await this.#held(instanceId, batch);
    } catch (error) {
      this.#stop(error);
      return;
    }
    for (const { place, conversation } of batch) {
      while (this.#inFlight.size >= this.#options.concurrency) await Promise.race(this.#inFlight);
      if (this.#ended) return;
      const task: Promise<void> = this.#deliver(place, conversation, instanceId, held).finally(() =>
        this.#inFlight.delete(task),
      );
      this.#inFlight.add(task);
    }
  }

  /** Only when there is something to send: files that cannot be read leave no instance behind. */
  async #openInstance(): Promise<string> {
    const { into, target } = this.#options;
    const name = into.kind === 'new' ? into.name : DEFAULT_NAME;
    const opened = await target.openInstance({
      ...(name === undefined ? {} : { name }),
      ...(into.kind === 'default' ? { default: true } : {}),
    });
    this.#instanceId = opened.id;
    this.#observer.instance?.(opened.id, opened);
    return opened.id;
  }

  async #held(instanceId: string, batch: readonly Placed[]): Promise<ReadonlyMap<string, number>> {
    const ids = batch.flatMap(({ conversation: { source, id } }) => [
      sessionIdOf(instanceId, source, id),
      ...earlierSessionIdsOf(instanceId, source, id),
    ]);
    const answer = await this.#options.target.query({
      groupBy: 'SESSION',
      instanceId,
      fields: 'messages',
      ids: ids.join(','),
      limit: String(ids.length),
    });
    const counts = new Map<string, number>();
    for (const { dimensions, fields } of answer.elements) {
      const session: unknown = dimensions['session'];
      const id = typeof session === 'object' && session !== null && 'id' in session ? session.id : null;
      if (typeof id === 'string' && typeof fields['messages'] === 'number')
        counts.set(id, fields['messages']);
    }
    return counts;
  }

  async #deliver(
    place: Place,
    conversation: Conversation,
    instanceId: string,
    held: ReadonlyMap<string, number>,
  ): Promise<void> {
    const { source, id, messages } = conversation;
    const ids = [sessionIdOf(instanceId, source, id), ...earlierSessionIdsOf(instanceId, source, id)];
    const sessionId = ids.find((candidate) => held.has(candidate)) ?? (ids[0] as string);
    const count = Math.max(held.get(sessionId) ?? 0, this.#sent.get(sessionId));
    if (count >= messages.length) {
      for (const user of usersOf(conversation)) this.#users.set(user, 1);
      this.#alreadyThere += 1;
      this.#messagesAlreadyThere += messages.length;
      this.#report();
      return;
    }
    try {
      for (const part of partsOf(messages, count))
        await this.#send(place, conversation, { instanceId, sessionId }, part);
      for (const user of usersOf(conversation)) this.#users.set(user, 1);
      this.#sent.set(sessionId, messages.length);
      this.#conversations += 1;
      this.#messages += messages.length - count;
    } catch (error) {
      this.#settle(place, conversation, error);
    }
    this.#report();
  }

  async #send(
    place: Place,
    conversation: Conversation,
    ids: { readonly instanceId: string; readonly sessionId: string },
    part: { readonly offset: number; readonly messages: readonly IngestMessage[] },
  ): Promise<void> {
    const { line, places, session } = conversation;
    const body: IngestBody = { ...ids, messages: part.messages, metadata: { session } };
    const digest = createHash('sha256')
      .update(JSON.stringify([part.offset, body]))
      .digest('base64url');
    let answer: IngestAnswer;
    try {
      answer = await this.#options.target.ingest(body, `import-${digest}`);
    } catch (error) {
      throw error instanceof RefusedError ? inLine(error, places.slice(part.offset)) : error;
    }
    this.#noteLast(answer, part.offset + part.messages.length);
    for (const { text } of this.#warnings.add(answer.warnings ?? ''))
      this.#observer.warning?.({ ...place, line, message: text });
  }

  #noteLast(answer: IngestAnswer, messages: number): void {
    const { position, sessionId } = answer;
    if (position === null) return;
    if (this.#last === null || comparePositions(position, this.#last.position) >= 0) {
      this.#last = { position, sessionId, messages };
    }
  }

  /** A refused conversation is that line's failure; a refused key or instance, or silence, ends the import. */
  #settle(place: Place, conversation: Conversation, error: unknown): void {
    const aborted = this.#options.signal?.aborted === true;
    if (error instanceof RefusedError && ![401, 403, 404].includes(error.status)) {
      this.#fail(place, conversation.line, `${error.code}: ${error.message}`);
    } else if (!aborted || error instanceof UnavailableError) {
      this.#stop(error);
    }
  }

  #report(): void {
    this.#observer.progress?.({
      readBytes: this.#readBytes,
      totalBytes: this.#totalBytes,
      conversations: this.#conversations + this.#alreadyThere,
      messages: this.#messages + this.#messagesAlreadyThere,
    });
  }
}

/**
 * The same refusal with its place as the line has it: `turns.4.createdAt` in place of
 * `messages.3.metadata.createdAt`.
 */
function inLine(error: RefusedError, places: readonly string[]): RefusedError {
  const [, index, member = ''] = /^messages\.(\d+)(.*)$/.exec(error.place?.path ?? '') ?? [];
  const place = index === undefined ? undefined : places[Number(index)];
  if (error.place === null || place === undefined) return error;
  const path = `${place}${member.replace('.metadata.createdAt', '.createdAt')}`;
  return new RefusedError(error.status, error.code, 'refused', { ...error.place, path });
}

/** Orders two positions of one instance: as numbers when they are, else by length and text. */
function comparePositions(a: string, b: string): number {
  const [x, y] = [Number(a), Number(b)];
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
