/** How fast a body has to arrive, once it has begun. */
export interface BodyRate {
  readonly bytesPerSecond: number;
  /** Over which the rate is taken, milliseconds; a body may take so long whatever its size. */
  readonly windowMs: number;
}

/** Watches bodies as they arrive. */
export interface RateWatch {
  /** Calls `onSlow` once when a body falls below the rate, unless its watch has ended. */
  watch(onSlow: () => void): WatchedBody;
}

export interface WatchedBody {
  received(bytes: number): void;
  end(): void;
}

/** A window is divided into so many parts; the oldest is let go with each tick. */
const PARTS = 10;

interface Watched {
  /** Bytes that came in each of the last PARTS ticks; the newest is the one at `tick % PARTS`. */
  readonly parts: number[];
  tick: number;
  readonly onSlow: () => void;
}

/** One timer serves all bodies; it runs while there are any. */
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
