/**
 * Keeps an assembler at work. Keeps the invariant that at most one is open at a time. Test:
 * test/doors/traces/assembly/keep-assembling.test.ts.
 */
import type { Logger } from '../../../logger.ts';

/** As an assembler, as far as it has to be opened and closed. */
export interface Assembling {
  /** Resolves when it has come to its end, by itself or closed. */
  readonly finished: Promise<void>;
  close(): Promise<void>;
}

export interface KeepAssemblingOptions<Opened extends Assembling> {
  /** `signal`: see below; it need not open any more. */
  readonly open: (signal: AbortSignal) => Promise<Opened>;
  /** Hears which one is at work; null: none. */
  readonly onChange: (opened: Opened | null) => void;
  readonly logger: Logger;
  readonly pause: () => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Has an assembler at work until the signal is aborted: NATS may be away when it is opened, and it comes to its end
 * when the stream of traces is emptied or replaced. Resolves when it is closed.
 */
export async function keepAssembling<Opened extends Assembling>(
  options: KeepAssemblingOptions<Opened>,
): Promise<void> {
  const { open, onChange, logger, pause, signal } = options;
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  while (!signal.aborted) {
    try {
      const opened = await open(signal);
      onChange(opened);
      try {
        await Promise.race([opened.finished, aborted]);
      } finally {
        onChange(null);
        await opened.close();
      }
    } catch (error) {
      logger.warn({ event: 'traces_not_opened', err: error }, 'traces cannot be assembled now; trying again');
    }
    if (!signal.aborted) await Promise.race([pause(), aborted]);
  }
}
