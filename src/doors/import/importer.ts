/**
 * Imports planned files into a service. Safe to repeat: conversations that the service holds in full are skipped, those
 * it holds in part are continued, and messages accepted but not yet processed are recognised by the key of their
 * request.
 *
 * Test: test/doors/import/importer.test.ts.
 */
import { DEFAULT_INSTANCE_NAME } from '../../domain/limits.ts';
import type { Ingested } from '../client/answers.ts';
import { UndertoneError } from '../client/errors.ts';
import { isRefusal, refusalAt } from './client.ts';
import type { ImportObserver, ImportOptions, ImportSummary } from './contract.ts';
import { convert, type Place } from './converter.ts';
import { DigestCounts } from './digest-counts.ts';
import { OmissionCounts } from '../traces/omissions.ts';
import { untimedIn } from './made-up.ts';
import { Marks } from './marks.ts';
import { nameOf, usersOf } from './mapper.ts';
import type { Conversation } from './mapper.ts';
import { feedbackPiecesOf, sendFeedback, UNTIMED_FEEDBACK } from './feedback-requests.ts';
import { requestsOf, Sender, type Sent } from './sender.ts';
import { Pace } from './pace.ts';
import { planFiles, sizeOf, type FilePlan } from './plan.ts';
import { SessionLookup } from './session-lookup.ts';
import { WarningCounts } from './warnings.ts';

interface Placed {
  readonly place: Place;
  readonly conversation: Conversation;
}

/** A conversation that the service has. `held`: messages of its session there. */
interface Accepted {
  readonly sessionId: string;
  readonly held: number;
}

/**
 * Limits of a group that is looked up and sent together. A conversation that exceeds them alone is sent in requests of
 * its own.
 */
const GROUP = { conversations: 250, messages: 4096, characters: 1024 * 1024 };
/** Groups in flight: one is read while others are sent and stored. */
const GROUPS_IN_FLIGHT = 4;
/**
 * Sends every conversation of the files to a session of its own, several at a time; messages of one conversation keep
 * their order. Faults of lines, files and the service do not throw: the summary reports them.
 */
export async function importPlanned(options: ImportOptions): Promise<ImportSummary> {
  return await new Import(options, () => Promise.resolve(options.plans)).run();
}

/** Imports files whose formats are recognised automatically. */
export async function importFiles(
  options: Omit<ImportOptions, 'plans'> & { readonly files: readonly string[] },
): Promise<ImportSummary> {
  return await new Import(options, () => planFiles(options.files, options.signal)).run();
}

class Group {
  readonly placed: Placed[] = [];
  #messages = 0;
  #characters = 0;

  add(placed: Placed): void {
    const { messages } = placed.conversation;
    this.placed.push(placed);
    this.#messages += messages.length;
    for (const { content } of messages) this.#characters += content.length;
  }

  get isFull(): boolean {
    return (
      this.placed.length >= GROUP.conversations ||
      this.#messages >= GROUP.messages ||
      this.#characters >= GROUP.characters
    );
  }
}

class Import {
  readonly #options: Omit<ImportOptions, 'plans'>;
  readonly #planned: () => Promise<readonly FilePlan[]>;
  readonly #observer: ImportObserver;
  /** Conversations that are read but not yet in flight; a group may span files. */
  #group = new Group();
  readonly #inFlight = new Set<Promise<void>>();
  /** Names of the conversations in `#group` and in flight. */
  readonly #open = new Set<string>();
  readonly #users = new DigestCounts();
  /** End users invented for conversations that name none. */
  #anonymous = 0;
  /** Messages sent without a time. */
  #untimed = 0;
  /** Messages per session that this import sent or found; queries may not return them yet. */
  readonly #sent = new DigestCounts();
  readonly #warnings = new WarningCounts();
  readonly #leftOut = new OmissionCounts();
  readonly #sender: Sender;
  readonly #pace: Pace | null;
  readonly #lookup: SessionLookup;
  #instanceId: string | null;
  /** True if this import created the instance and it is not the project's default. */
  #isNew = false;
  #stopped: Error | null = null;
  readonly #counts = {
    conversations: 0,
    messages: 0,
    alreadyThere: 0,
    messagesAlreadyThere: 0,
    emptyTurns: 0,
    failedLines: 0,
    feedback: 0,
  };
  readonly #brokenFiles: ImportSummary['brokenFiles'][number][] = [];
  #readBytes = 0;
  #totalBytes = 0;
  #last: ImportSummary['last'] = null;
  readonly #marks = new Marks();

  constructor(options: Omit<ImportOptions, 'plans'>, planned: () => Promise<readonly FilePlan[]>) {
    this.#options = options;
    this.#planned = planned;
    this.#observer = options.observer ?? {};
    this.#sender = new Sender(options.target, options.concurrency);
    const { target, maxLagMs } = options;
    this.#lookup = new SessionLookup(target);
    this.#pace = maxLagMs === undefined ? null : new Pace(target, maxLagMs);
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
      await this.#begin();
    } catch (error) {
      this.#stopUnlessInterrupted(error);
    }
    await Promise.all(this.#inFlight);
    this.#report();
    return {
      instanceId: this.#instanceId,
      ...this.#counts,
      users: this.#users.size + this.#anonymous,
      madeUp: { times: this.#untimed, users: this.#anonymous },
      brokenFiles: this.#brokenFiles,
      leftOut: this.#leftOut.all,
      warnings: this.#warnings.all(),
      stopped: this.#stopped,
      interrupted: this.#options.signal?.aborted === true,
      durationMs: performance.now() - startedAt,
      last: this.#last,
      marks: this.#marks.all,
    };
  }

  get #ended(): boolean {
    return this.#stopped !== null || this.#options.signal?.aborted === true;
  }

  /** An abort interrupts requests; that is no fault. */
  #stopUnlessInterrupted(error: unknown): void {
    if (this.#options.signal?.aborted !== true || isSilence(error)) this.#stop(error);
  }

  #stop(error: unknown): void {
    this.#stopped ??= error instanceof Error ? error : new Error(String(error));
  }

  async #importFile(plan: FilePlan, bytesBefore: number): Promise<void> {
    const onRead = (bytes: number): void => {
      this.#readBytes = bytesBefore + bytes;
    };
    const { source, user, signal } = this.#options;
    try {
      for await (const converted of convert(plan, { onRead, signal, source, user })) {
        if (this.#ended) return;
        const { place, number } = converted;
        if ('fault' in converted) this.#fail(place, number, converted.fault);
        else if ('leftOut' in converted) this.#leftOut.add(converted.leftOut);
        else {
          this.#noteOmissions(place, converted.conversation, converted.emptyTurns);
          this.#leftOut.addAll(converted.omitted);
          await this.#add({ place, conversation: converted.conversation });
        }
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#brokenFiles.push({ name: plan.parts[0].input.name, message });
    }
  }

  async #add(placed: Placed): Promise<void> {
    const { source, id } = placed.conversation;
    const name = nameOf(source, id);
    // An earlier file contains it too, perhaps shorter: it continues after that one's messages.
    if (this.#open.has(name)) {
      await this.#begin();
      await Promise.all(this.#inFlight);
    }
    this.#open.add(name);
    this.#group.add(placed);
    if (this.#group.isFull) await this.#begin();
  }

  #noteOmissions(place: Place, conversation: Conversation, emptyTurns: readonly number[]): void {
    const { line } = conversation;
    if (emptyTurns.length > 0) {
      this.#counts.emptyTurns += emptyTurns.length;
      const list = emptyTurns.slice(0, 10).join(', ') + (emptyTurns.length > 10 ? ', …' : '');
      this.#observer.notice?.({ ...place, line, message: `empty turn left out: ${list}` });
    }
  }

  #fail(place: Place, line: number, message: string): void {
    this.#counts.failedLines += 1;
    this.#observer.failure?.({ ...place, line, message });
  }

  /** Sends the group as soon as there is room in flight; reading continues meanwhile. */
  async #begin(): Promise<void> {
    const group = this.#group.placed;
    this.#group = new Group();
    const most = Math.min(GROUPS_IN_FLIGHT, this.#options.concurrency);
    while (this.#inFlight.size >= most) await Promise.race(this.#inFlight);
    if (group.length === 0 || this.#ended) return;
    let instanceId: string;
    try {
      instanceId = this.#instanceId ?? (await this.#openInstance());
      await this.#pace?.keep(instanceId, () => this.#ended);
    } catch (error) {
      this.#stopUnlessInterrupted(error);
      return;
    }
    const task: Promise<void> = this.#deliver(instanceId, group)
      .catch((error: unknown) => this.#stopUnlessInterrupted(error))
      .finally(() => {
        this.#inFlight.delete(task);
        for (const { conversation } of group) this.#open.delete(nameOf(conversation.source, conversation.id));
      });
    this.#inFlight.add(task);
  }

  /** Opens the instance only when there is something to send, so that unreadable files leave no empty instance. */
  async #openInstance(): Promise<string> {
    const { into, target } = this.#options;
    const name = into.kind === 'new' ? into.name : DEFAULT_INSTANCE_NAME;
    const opened = await target.openInstance({
      ...(name === undefined ? {} : { name }),
      ...(into.kind === 'default' ? { default: true } : {}),
    });
    this.#instanceId = opened.id;
    // Nobody else writes to a new instance, so lookups are not needed.
    this.#isNew = into.kind === 'new' && opened.made;
    this.#observer.instance?.(opened.id, opened);
    return opened.id;
  }

  /** Looks up how much of these conversations the service holds, then sends the rest. */
  async #deliver(instanceId: string, group: readonly Placed[]): Promise<void> {
    const conversations = group.map(({ conversation }) => conversation);
    const { sessions, held } = await this.#lookup.find(instanceId, conversations, { isNew: this.#isNew });
    const accepted = new Map<Placed, Accepted>();
    const missing = group.flatMap((placed, index) => {
      const { conversation } = placed;
      const { messages } = conversation;
      const ids = sessions[index] ?? [];
      const sessionId = ids.find((candidate) => held.has(candidate)) ?? (ids[0] as string);
      const count = Math.max(held.get(sessionId) ?? 0, this.#sent.get(sessionId));
      if (count < messages.length) {
        const requests = requestsOf(conversation, { instanceId, sessionId }, count);
        return [{ placed, count, requests, sessionId }];
      }
      this.#noteUsers(conversation, sessionId);
      this.#sent.set(sessionId, count);
      this.#counts.alreadyThere += 1;
      this.#counts.messagesAlreadyThere += messages.length;
      accepted.set(placed, { sessionId, held: count });
      return [];
    });
    this.#report();
    await this.#sender.send(
      missing.map(({ requests }) => requests),
      this.#lookup,
      (index, outcome) => {
        const { placed, count, sessionId } = missing[index] as (typeof missing)[number];
        if (this.#settle(placed, count, outcome))
          accepted.set(placed, { sessionId, held: placed.conversation.messages.length });
      },
    );
    await this.#giveFeedback(instanceId, group, accepted);
  }

  /** Gives the feedback on messages that the service has, in the order of the file: a repeat sends the same lists. */
  async #giveFeedback(
    instanceId: string,
    group: readonly Placed[],
    accepted: ReadonlyMap<Placed, Accepted>,
  ): Promise<void> {
    const all = group.flatMap((placed) => {
      const { sessionId, held } = accepted.get(placed) ?? {};
      if (sessionId === undefined || held === undefined) return [];
      const { pieces, untimed } = feedbackPiecesOf(placed.conversation, { instanceId, sessionId }, held);
      this.#leftOut.add(UNTIMED_FEEDBACK, untimed);
      return pieces.map((piece) => ({ ...piece, placed }));
    });
    /** A line fails once, and each of its faults is said. */
    const failed = new Set<Placed>();
    const fail = (placed: Placed, message: string): void => {
      const { place, conversation } = placed;
      if (failed.has(placed)) this.#observer.failure?.({ ...place, line: conversation.line, message });
      else this.#fail(place, conversation.line, message);
      failed.add(placed);
    };
    const open = new Set(all);
    try {
      await sendFeedback(this.#options.target, all, {
        stored: (pieces, position) => {
          for (const piece of pieces) open.delete(piece);
          this.#counts.feedback += pieces.length;
          const { placed, body } = pieces.at(-1)!;
          this.#noteVisible(position, body.sessionId, placed.conversation.messages.length);
        },
        refused: (piece, { code, path, message }) => {
          const { placed, index } = piece;
          open.delete(piece);
          fail(placed, `${code}: refused (${placed.conversation.places[index] ?? ''}.${path}: ${message})`);
        },
        isEnded: () => this.#ended,
      });
    } catch (error) {
      // An older service takes messages, but no feedback.
      if (isRefusal(error) && error.status === 404)
        for (const placed of new Set([...open].map((piece) => piece.placed)))
          fail(placed, `its feedback: ${error.message}`);
      else this.#stopUnlessInterrupted(error);
    }
  }

  /** Counts the answers of a conversation, up to the first error. Returns false if there is one. */
  #settle(placed: Placed, count: number, outcome: readonly Sent[]): boolean {
    const { place, conversation } = placed;
    for (const { request, answer } of outcome) {
      if (answer instanceof Error) {
        this.#refused(placed, inLine(answer, conversation.places.slice(request.offset)));
        this.#report();
        return false;
      }
      this.#noteLast(answer, request.offset + request.messages);
      this.#pace?.stored(answer);
      for (const { text } of this.#warnings.add(answer.warnings ?? ''))
        this.#observer.warning?.({ ...place, line: conversation.line, message: text });
    }
    const { messages } = conversation;
    const sessionId = outcome.at(-1)?.request.sessionId;
    if (sessionId !== undefined) {
      this.#noteUsers(conversation, sessionId);
      this.#sent.set(sessionId, messages.length);
    }
    this.#counts.conversations += 1;
    this.#counts.messages += messages.length - count;
    this.#untimed += untimedIn(messages.slice(count));
    this.#counts.messagesAlreadyThere += count;
    this.#report();
    return true;
  }

  #noteUsers(conversation: Conversation, sessionId: string): void {
    const users = usersOf(conversation);
    if (!conversation.isAnonymous) for (const user of users) this.#users.set(user, 1);
    else if (this.#sent.get(sessionId) === 0) this.#anonymous += users.size;
  }

  #noteLast(answer: Ingested, messages: number): void {
    const { position, sessionId } = answer;
    if (position === null) return;
    this.#marks.add({ position, sessionId, sent: this.#counts.messages + messages });
    this.#noteVisible(position, sessionId, messages);
  }

  #noteVisible(position: number | null, sessionId: string, messages: number): void {
    if (position !== null && (this.#last === null || position >= this.#last.position))
      this.#last = { position, sessionId, messages };
  }

  /**
   * A refused conversation is a failure of its line; a refused key or instance, or an unreachable service, ends the
   * import.
   */
  #refused({ place, conversation }: Placed, error: Error): void {
    const aborted = this.#options.signal?.aborted === true;
    if (isRefusal(error) && ![401, 403, 404].includes(error.status)) {
      this.#fail(place, conversation.line, `${error.code}: ${error.message}`);
    } else if (!aborted || isSilence(error)) {
      this.#stop(error);
    }
  }

  #report(): void {
    this.#observer.progress?.({
      readBytes: this.#readBytes,
      totalBytes: this.#totalBytes,
      conversations: this.#counts.conversations + this.#counts.alreadyThere,
      messages: this.#counts.messages + this.#counts.messagesAlreadyThere,
    });
  }
}

/**
 * Returns the same refusal with the path as the line has it: `turns.4.createdAt` instead of
 * `messages.3.metadata.createdAt`.
 */
function inLine(error: Error, places: readonly string[]): Error {
  if (!isRefusal(error)) return error;
  const [, index, member = ''] = /^messages\.(\d+)(.*)$/.exec(error.details[0]?.path ?? '') ?? [];
  const place = index === undefined ? undefined : places[Number(index)];
  if (place === undefined) return error;
  return refusalAt(error, 'refused', `${place}${member.replace('.metadata.createdAt', '.createdAt')}`);
}

/** True if the service was unreachable or too busy for as long as the client waits. */
function isSilence(error: unknown): boolean {
  return error instanceof UndertoneError && error.status === null;
}
