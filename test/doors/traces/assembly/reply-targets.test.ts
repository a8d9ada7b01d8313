import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { replyTargets } from '../../../../src/doors/traces/assembly/reply-targets.ts';
import { Tree } from '../../../../src/doors/traces/assembly/spoken-spans.ts';

/** The targets of spans, of a tree of which each span is written with the one above it. */
function targets(
  parents: Readonly<Record<string, string>>,
  replying: readonly string[],
  ...asked: readonly string[]
): (string | undefined)[] {
  const seen = new Map(
    Object.entries(parents).map(([spanId, parent]) => [
      spanId,
      { spanId, parentSpanId: parent === '' ? undefined : parent, counted: replying.includes(spanId) },
    ]),
  );
  const targetOf = replyTargets(new Tree([], seen), new Set(replying));
  return asked.map(targetOf);
}

describe('the reply that an evaluated span stands for', () => {
  const tree = { http: '', agent: 'http', call: 'agent', tool: 'call', title: 'http' };

  it('is that of the span itself, or of the nearest above it', () => {
    deepEqual(targets(tree, ['agent'], 'agent', 'call', 'tool'), ['agent', 'agent', 'agent']);
    deepEqual(targets(tree, ['agent', 'call'], 'tool', 'agent'), ['call', 'agent']);
  });

  it('is the only one below it, and none of several', () => {
    deepEqual(targets(tree, ['agent'], 'http', 'title'), ['agent', undefined]);
    deepEqual(targets(tree, ['agent', 'title'], 'http', 'title'), [undefined, 'title']);
  });

  it('is none of a span that nobody knows, or in a ring', () => {
    deepEqual(targets(tree, ['agent'], 'unknown'), [undefined]);
    deepEqual(targets({ a: 'b', b: 'a' }, [], 'a'), [undefined]);
    deepEqual(targets({ a: 'b', b: 'a' }, ['b'], 'a'), ['b']);
  });
});
