/**
 * Loaded into a process before its own code (`NODE_OPTIONS=--import`): shifts its clock by the milliseconds that
 * the file `CLOCK_FILE` says, whenever that says something else. Timers and `performance.now()` go on as ever,
 * as they do when a clock is set.
 */
import { readFileSync } from 'node:fs';

const file = process.env['CLOCK_FILE'];
const RealDate = Date;
let shiftMs = 0;

function look(): void {
  try {
    shiftMs = Number(readFileSync(file ?? '', 'utf8')) || 0;
  } catch {
    shiftMs = 0;
  }
}

if (file !== undefined) {
  look();
  setInterval(look, 20).unref();
  const now = (): number => RealDate.now() + shiftMs;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, given: unknown[], newTarget) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget) as object,
    apply: () => new RealDate(now()).toString(),
    get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
  });
}
