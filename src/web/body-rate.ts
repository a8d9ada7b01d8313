/**
 * Checks that bodies arrive at a minimum rate.
 *
 * Test: test/web/body-rate.test.ts.
 */

/** Minimum rate of a body, once it has begun. */
export interface BodyRate {
  readonly bytesPerSecond: number;
  /** Window of the rate, milliseconds; a body of any size may take this long. */
  readonly windowMs: number;
}

export interface RateWatch {
  /** Calls `onSlow` once if a body falls below the rate before its watch ends. */
  watch(onSlow: () => void): WatchedBody;
}

export interface WatchedBody {
  received(bytes: number): void;
  end(): void;
}

/** Parts of a window; each tick drops the oldest. */
const PARTS = 10;

interface Watched {
  /** Bytes of the last PARTS ticks; the newest is at `tick % PARTS`. */
  readonly parts: number[];
  tick: number;
  readonly onSlow: () => void;
}

/** One timer serves all bodies, and runs while there are any. */
export function createRateWatch({ bytesPerSecond, windowMs }: BodyRate): RateWatch {
  const bodies = new Set<Watched>();
  const enough = (bytesPerSecond * windowMs) / 1000;
  let timer: NodeJS.Timeout | undefined;

  function tick(): void {
    for (const body of bodies) {
      body.tick += 1;
      if (body.tick >= PARTS && body.parts.reduce((total, part) => total + part, 0) < enough) {
        bodies.delete(body);
        body.onSlow();
        continue;
      }
      body.parts[body.tick % PARTS] = 0;
    }
    if (bodies.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    watch(onSlow) {
      const body: Watched = { parts: Array.from({ length: PARTS }, () => 0), tick: 0, onSlow };
      bodies.add(body);
      timer ??= setInterval(tick, windowMs / PARTS).unref();
      return {
        received(bytes) {
          const part = body.tick % PARTS;
          body.parts[part] = (body.parts[part] ?? 0) + bytes;
        },
        end: () => void bodies.delete(body),
      };
    },
  };
}
