import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { v5 } from 'uuid';
import { RefusedError, UnavailableError } from './client.ts';
import type { IngestAnswer, IngestBody, QueryAnswer } from './client.ts';
import { readLines } from './lines.ts';
import { DuplicateIds, mapLine, nameOf, sourceOfFile, usersOf } from './mapper.ts';
import type { Conversation, IngestMessage } from './mapper.ts';

/** What the importer needs of the service. */
export interface ImportTarget {
  ingest(body: IngestBody, idempotencyKey: string): Promise<IngestAnswer>;
  query(params: Readonly<Record<string, string>>, waitFor?: string): Promise<QueryAnswer>;
}

/** A place in a file where something was left out, and why. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Hears of what happens, as it happens. */
export interface ImportObserver {
  /** The instance is known; when it is a new one, its first conversation is safely in it. */
  instance?(instanceId: string): void;
  progress?(progress: ImportProgress): void;
  /** Something was left out that the file cannot be blamed for (an empty turn) or should be told about. */
  notice?(finding: Finding): void;
  /** A line was not imported. */
  failure?(finding: Finding): void;
}

export interface ImportProgress {
  readonly readBytes: number;
  readonly totalBytes: number;
  readonly conversations: number;
  readonly messages: number;
}

export interface ImportOptions {
  readonly files: readonly string[];
  /** Omitted: the service's answer to the first conversation decides. */
  readonly instanceId?: string;
  /** Kept with the instance, such as its `name`. */
  readonly instance?: Readonly<Record<string, unknown>>;
  readonly target: ImportTarget;
  /** Conversations in flight. */
  readonly concurrency: number;
  readonly observer?: ImportObserver;
  /** Stops reading; what is in flight is finished. */
  readonly signal?: AbortSignal;
  /** How long to wait for a new instance's first conversation to become visible. Default 15 s. */
  readonly visibilityWaitMs?: number;
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
  /** Why the import ended early; null when every line was read. */
  readonly stopped: Error | null;
  readonly interrupted: boolean;
  readonly durationMs: number;
  /** Where the last accepted conversation stands, to wait for; null when nothing was sent. */
  readonly last: { readonly position: string; readonly sessionId: string; readonly messages: number } | null;
}

/** Names the space of session ids that are derived from a conversation's source and id. */
export const SESSION_NAMESPACE = '5b0b3f0e-7c1d-5f4e-9a57-0c6b4d2f8e11';

/** SPEC: the most messages that one request may carry. */
export const MAX_REQUEST_MESSAGES = 10_000;
/** Keeps a request well under the service's default body limit (32 MiB) and its stream's record limit. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;
/** Conversations looked up together: two 36-character ids each keep the address below 8 KB. */
const LOOKUP_SIZE = 64;

/**
 * The session of a conversation. The first instance that a conversation is imported into gets the id
 * derived from source and id alone, so that a repeat finds its instance again without being told; every
 * further instance gets one derived from the instance too, since a session belongs to one instance only.
 */
export function sessionIdOf(source: string, id: string, instanceId?: string): string {
  const first = v5(nameOf(source, id), SESSION_NAMESPACE);
  return instanceId === undefined ? first : v5(first, v5(instanceId.toLowerCase(), SESSION_NAMESPACE));
}

/**
 * Sends every conversation of the files, each to a session of its own, some at a time; the messages of
 * one conversation keep their order. Safe to repeat: conversations that the service shows in full are
 * passed over, those it shows in part are continued, and what it has accepted but not yet processed is
 * recognised by its idempotency key. Never throws for what a line, a file or the service does wrong:
 * the summary says it.
 */
export async function importFiles(options: ImportOptions): Promise<ImportSummary> {
  return await new Import(options).run();
}

class Import {
  readonly #options: ImportOptions;
  readonly #observer: ImportObserver;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #users = new Set<string>();
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

  constructor(options: ImportOptions) {
    this.#options = options;
    this.#observer = options.observer ?? {};
    this.#instanceId = options.instanceId?.toLowerCase() ?? null;
  }

  async run(): Promise<ImportSummary> {
    const startedAt = performance.now();
    try {
      const sizes = await Promise.all(this.#options.files.map(async (file) => (await stat(file)).size));
      this.#totalBytes = sizes.reduce((sum, size) => sum + size, 0);
      if (this.#instanceId !== null) this.#observer.instance?.(this.#instanceId);
      for (const [index, file] of this.#options.files.entries()) {
        const before = sizes.slice(0, index).reduce((sum, size) => sum + size, 0);
        await this.#importFile(file, before);
        if (this.#ended) break;
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

  async #importFile(file: string, bytesBefore: number): Promise<void> {
    const duplicates = new DuplicateIds();
    const source = sourceOfFile(file);
    let batch: Conversation[] = [];
    const onRead = (bytes: number): void => {
      this.#readBytes = bytesBefore + bytes;
    };
    try {
      for await (const line of readLines(file, { onRead })) {
        if (this.#ended) return;
        if (line.text === null) {
          this.#fail(file, line.number, line.fault ?? 'unreadable');
          continue;
        }
        const mapped = mapLine(line.text, { line: line.number, source, duplicates });
        if ('fault' in mapped) {
          this.#fail(file, line.number, mapped.fault);
          continue;
        }
        this.#noteOmissions(file, mapped.conversation, mapped.emptyTurns);
        batch.push(mapped.conversation);
        if (batch.length === LOOKUP_SIZE) {
          await this.#sendBatch(file, batch);
          batch = [];
        }
      }
    } catch (error) {
      this.#stop(
        new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error }),
      );
    }
    if (this.#options.signal?.aborted !== true) await this.#sendBatch(file, batch);
  }

  #noteOmissions(file: string, conversation: Conversation, emptyTurns: readonly number[]): void {
    const { line } = conversation;
    if (emptyTurns.length > 0) {
      this.#emptyTurns += emptyTurns.length;
      const list = emptyTurns.slice(0, 10).join(', ') + (emptyTurns.length > 10 ? ', …' : '');
      this.#observer.notice?.({ file, line, message: `empty turn left out: ${list}` });
    }
  }

  #fail(file: string, line: number, message: string): void {
    this.#failedLines += 1;
    this.#observer.failure?.({ file, line, message });
  }

  /** Looks up what the service holds of these conversations, then sends what is missing. */
  async #sendBatch(file: string, batch: readonly Conversation[]): Promise<void> {
    let rest = batch;
    while (this.#instanceId === null && rest.length > 0 && !this.#ended) {
      const [first, ...others] = rest;
      rest = others;
      if (first !== undefined) await this.#openInstance(file, first);
    }
    if (this.#instanceId === null || rest.length === 0) return;
    const instanceId = this.#instanceId;
    let held: ReadonlyMap<string, number>;
    try {
      held = await this.#held(instanceId, rest);
    } catch (error) {
      this.#stop(error);
      return;
    }
    for (const conversation of rest) {
      while (this.#inFlight.size >= this.#options.concurrency) await Promise.race(this.#inFlight);
      if (this.#ended) return;
      const task: Promise<void> = this.#deliver(file, conversation, instanceId, held).finally(() =>
        this.#inFlight.delete(task),
      );
      this.#inFlight.add(task);
    }
  }

  /**
   * The first conversation of an import that names no instance goes out alone: the answer names the
   * instance, a new one unless this conversation was imported before. The instance is announced only
   * when the conversation is visible in it, so that an import resumed with `--instance` sees it.
   */
  async #openInstance(file: string, conversation: Conversation): Promise<void> {
    const sessionId = sessionIdOf(conversation.source, conversation.id);
    try {
      let answer: IngestAnswer | null = null;
      const parts = partsOf(conversation.messages);
      for (const part of parts) {
        answer = await this.#send(
          conversation,
          { sessionId, ...(answer && { instanceId: answer.instanceId }) },
          part,
        );
      }
      if (answer === null) return;
      const visible = await this.#visible(answer, sessionId, conversation.messages.length);
      if (visible > conversation.messages.length) {
        this.#observer.notice?.({
          file,
          line: conversation.line,
          message:
            `the service now shows ${visible} messages for this conversation of ${conversation.messages.length}: ` +
            'it was imported before; name the instance with --instance when you repeat an old import',
        });
      }
      this.#accepted(conversation, conversation.messages.length);
      this.#instanceId = answer.instanceId;
      this.#observer.instance?.(answer.instanceId);
      this.#report();
    } catch (error) {
      if (error instanceof RefusedError && error.status === 409) {
        this.#stop(
          new Error(
            `line ${conversation.line} of ${file} was imported before, with a key of another project; ` +
              'make an instance with "npm run instances -- create --project NAME" and name it with --instance',
          ),
        );
      } else this.#settle(file, conversation, error);
    }
  }

  /** Messages shown for the session once it shows `expected`, or when waiting any longer makes no sense. */
  async #visible(answer: IngestAnswer, sessionId: string, expected: number): Promise<number> {
    const deadline = performance.now() + (this.#options.visibilityWaitMs ?? 15_000);
    for (;;) {
      const held = await this.#count(answer.instanceId, [sessionId], answer.position ?? undefined);
      const messages = held.get(sessionId) ?? 0;
      if (messages >= expected || performance.now() >= deadline || this.#ended) return messages;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async #held(instanceId: string, batch: readonly Conversation[]): Promise<ReadonlyMap<string, number>> {
    const ids = batch.flatMap(({ source, id }) => [
      sessionIdOf(source, id),
      sessionIdOf(source, id, instanceId),
    ]);
    return await this.#count(instanceId, ids);
  }

  async #count(instanceId: string, ids: readonly string[], waitFor?: string): Promise<Map<string, number>> {
    const answer = await this.#options.target.query(
      { groupBy: 'SESSION', instanceId, fields: 'messages', ids: ids.join(','), limit: String(ids.length) },
      waitFor,
    );
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
    file: string,
    conversation: Conversation,
    instanceId: string,
    held: ReadonlyMap<string, number>,
  ): Promise<void> {
    const first = sessionIdOf(conversation.source, conversation.id);
    const own = sessionIdOf(conversation.source, conversation.id, instanceId);
    const total = conversation.messages.length;
    const count = held.get(own) ?? held.get(first) ?? 0;
    if (count >= total) {
      this.#alreadyThere += 1;
      this.#messagesAlreadyThere += total;
      for (const user of usersOf(conversation)) this.#users.add(user);
      this.#report();
      return;
    }
    try {
      try {
        if (held.has(own)) await this.#sendFrom(conversation, count, { instanceId, sessionId: own });
        else await this.#sendFrom(conversation, count, { instanceId, sessionId: first });
      } catch (error) {
        const elsewhere = error instanceof RefusedError && error.status === 409 && count === 0;
        if (!elsewhere) throw error;
        await this.#sendFrom(conversation, 0, { instanceId, sessionId: own });
      }
      this.#accepted(conversation, total - count);
    } catch (error) {
      this.#settle(file, conversation, error);
    }
    this.#report();
  }

  async #sendFrom(
    conversation: Conversation,
    offset: number,
    ids: { readonly instanceId: string; readonly sessionId: string },
  ): Promise<void> {
    for (const part of partsOf(conversation.messages, offset)) await this.#send(conversation, ids, part);
  }

  async #send(
    conversation: Conversation,
    ids: { readonly instanceId?: string; readonly sessionId: string },
    part: { readonly offset: number; readonly messages: readonly IngestMessage[] },
  ): Promise<IngestAnswer> {
    const { instance } = this.#options;
    const metadata = { ...(instance === undefined ? {} : { instance }), session: conversation.session };
    const body: IngestBody = { ...ids, messages: part.messages, metadata };
    const digest = createHash('sha256')
      .update(JSON.stringify([part.offset, body]))
      .digest('base64url');
    const answer = await this.#options.target.ingest(body, `import-${digest}`);
    this.#noteLast(answer, part.offset + part.messages.length);
    return answer;
  }

  #noteLast(answer: IngestAnswer, messages: number): void {
    const { position, sessionId } = answer;
    if (position === null) return;
    if (this.#last === null || comparePositions(position, this.#last.position) >= 0) {
      this.#last = { position, sessionId, messages };
    }
  }

  #accepted(conversation: Conversation, messages: number): void {
    this.#conversations += 1;
    this.#messages += messages;
    for (const user of usersOf(conversation)) this.#users.add(user);
  }

  /** A refused conversation is that line's failure; a refused key or instance, or silence, ends the import. */
  #settle(file: string, conversation: Conversation, error: unknown): void {
    const aborted = this.#options.signal?.aborted === true;
    if (error instanceof RefusedError && ![401, 403, 404].includes(error.status)) {
      this.#fail(file, conversation.line, `${error.code}: ${error.message}`);
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
 * Polls until queries count every message that an import sent; false when the time is up first.
 * One conversation tells: an instance's messages become visible in the order in which they were accepted.
 */
export async function waitUntilVisible(
  target: ImportTarget,
  summary: Pick<ImportSummary, 'instanceId' | 'last'>,
  limitMs: number,
): Promise<boolean> {
  const { instanceId, last } = summary;
  if (instanceId === null || last === null) return true;
  const deadline = performance.now() + limitMs;
  for (;;) {
    const answer = await target.query(
      { groupBy: 'SESSION', instanceId, fields: 'messages', ids: last.sessionId },
      last.position,
    );
    const messages = answer.elements[0]?.fields['messages'];
    if (typeof messages === 'number' && messages >= last.messages) return true;
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Messages from `offset` on, cut at multiples of the request limit so that a repeat cuts at the same places. */
export function partsOf(
  messages: readonly IngestMessage[],
  offset = 0,
): { offset: number; messages: IngestMessage[] }[] {
  const parts: { offset: number; messages: IngestMessage[] }[] = [];
  let current: { offset: number; messages: IngestMessage[] } | null = null;
  let bytes = 0;
  for (let index = offset; index < messages.length; index += 1) {
    const message = messages[index];
    if (message === undefined) break;
    const size = Buffer.byteLength(JSON.stringify(message));
    const full =
      current !== null &&
      (current.messages.length >= MAX_REQUEST_MESSAGES || bytes + size > MAX_REQUEST_BYTES);
    if (current === null || full) {
      current = { offset: index, messages: [] };
      parts.push(current);
      bytes = 0;
    }
    current.messages.push(message);
    bytes += size;
  }
  return parts;
}

/** Orders two positions of one instance: as numbers when they are, else by length and text. */
function comparePositions(a: string, b: string): number {
  const [x, y] = [Number(a), Number(b)];
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
