/**
 * Lets several callers use one model: one call at a time, in the order in which they came.
 *
 * Test: test/doors/writer/second-reader.test.ts.
 */
import { CallError, type TextModel } from './chat-endpoint.ts';

/** Returns the model with calls one after the other. The time limit of a call begins with its turn. */
export function inTurn(model: TextModel): TextModel {
  let last: Promise<unknown> = Promise.resolve();
  return {
    complete(messages, signal) {
      const turn = last.then(() => {
        if (signal.aborted) throw new CallError('failed', 'stopped');
        return model.complete(messages, signal);
      });
      last = turn.catch(() => undefined);
      return turn;
    },
    name: (signal) => model.name(signal),
    close: () => model.close(),
  };
}
