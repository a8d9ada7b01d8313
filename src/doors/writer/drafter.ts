/**
 * Drafts an article or a requirement from a brief with the writer's model, when somebody asks. Keeps the invariants that
 * the model is sent nothing but the redacted brief, and is called no more often than the budget allows. Nothing of it is
 * stored.
 *
 * Test: test/doors/writer/drafter.test.ts, test/e2e/draft-rules.test.ts.
 */
import { AppError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { CallLimits } from './call-limits.ts';
import { CallError, type ChatMessage, type Completion, type TextModel } from './chat-endpoint.ts';
import { draftDataOf, judgeDraft, type DraftSource } from './drafts.ts';
import { anew, draftPromptOf } from './prompts.ts';

export interface DrafterOptions {
  readonly model: TextModel;
  readonly callsPerHour: number;
  readonly logger: Logger;
  /** Pause after the first failure. Default 2 s. */
  readonly firstPauseMs?: number;
}

export class Drafter {
  readonly #options: DrafterOptions;
  readonly #limits: CallLimits;
  readonly #closing = new AbortController();
  #isFailing = false;

  constructor(options: DrafterOptions) {
    this.#options = options;
    this.#limits = new CallLimits(options.callsPerHour, options.firstPauseMs);
  }

  /**
   * Returns a draft as Markdown without personal data, and its model. A rejected one is asked for once more. Throws
   * AppError CONFLICT if the brief quotes no request, RATE_LIMIT_EXCEEDED once the budget of the hour is spent, and
   * SERVICE_UNAVAILABLE if the model gives no answer, or none that can be taken.
   */
  async draft(source: DraftSource, signal: AbortSignal): Promise<Completion> {
    const data = draftDataOf(source);
    if (data === null)
      throw new AppError(
        'CONFLICT',
        'There is nothing to draft from: no request of this time can be quoted. Choose a longer time.',
      );
    const stopped = AbortSignal.any([signal, this.#closing.signal]);
    const prompt = draftPromptOf(data);
    const first = await this.#call(prompt, stopped);
    const verdict = judgeDraft(data, first.text);
    if ('text' in verdict) return { ...first, text: verdict.text };
    const fault = [verdict.fault, verdict.named].filter((words) => words !== '').join(': ');
    const second = await this.#call(anew(prompt, first.text, fault), stopped);
    const again = judgeDraft(data, second.text);
    if ('text' in again) return { ...second, text: again.text };
    throw new AppError(
      'SERVICE_UNAVAILABLE',
      `The writer (${second.model}) gave no draft that can be shown: ${again.fault}. Another model may do better.`,
    );
  }

  /** Ends the current calls. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#options.model.close();
  }

  async #call(messages: readonly ChatMessage[], signal: AbortSignal): Promise<Completion> {
    if (signal.aborted) throw stopped();
    this.#checkLimits();
    this.#limits.called(performance.now());
    try {
      const completion = await this.#options.model.complete(messages, signal);
      this.#limits.succeeded();
      this.#isFailing = false;
      return completion;
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      // The model did not fail.
      if (signal.aborted) throw stopped(error);
      this.#isFailing = true;
      this.#limits.failed(performance.now(), error.retryAfterMs);
      this.#options.logger.warn(
        { event: 'draft_call_failed', reason: error.message },
        'the writer gave no draft: whoever asked is told',
      );
      throw new AppError('SERVICE_UNAVAILABLE', `The writer gave no draft: ${error.message}.`, {
        retryAfter: this.#waitSeconds(),
        cause: error,
      });
    }
  }

  #checkLimits(): void {
    const retryAfter = this.#waitSeconds();
    if (retryAfter === 0) return;
    if (this.#isFailing)
      throw new AppError(
        'SERVICE_UNAVAILABLE',
        `The writer failed just now. It can be asked again in ${retryAfter} s.`,
        { retryAfter },
      );
    throw new AppError(
      'RATE_LIMIT_EXCEEDED',
      `The writer has had its calls of this hour (WRITER_CALLS_PER_HOUR). It can be asked again in ${retryAfter} s.`,
      { retryAfter },
    );
  }

  #waitSeconds(): number {
    return Math.ceil(this.#limits.waitMs(performance.now()) / 1000);
  }
}

function stopped(cause?: unknown): AppError {
  return new AppError('SERVICE_UNAVAILABLE', 'The draft was stopped: ask for it again.', { cause });
}
