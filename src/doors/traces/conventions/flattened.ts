/**
 * Lists that are flattened into names of attributes. Keeps the invariant that members keep the order of their numbers.
 * Test: test/doors/traces/conventions/traceloop.test.ts, open-inference.test.ts.
 */
import type { Attributes, AttributeValue } from '../span.ts';

/** A member of a list or of an object, by its name; lists have numbers as names. */
type Node = Map<string, Node | AttributeValue>;

/** Names nested deeper are left out. */
const MAX_DEPTH = 10;

/**
 * The list that is flattened into attributes named `prefix.0.role`, `prefix.0.content` …: its members in the order of
 * their numbers. Empty where there are none.
 */
export function listIn(attributes: Attributes, prefix: string): unknown[] {
  const root: Node = new Map();
  for (const [name, value] of attributes) {
    if (!name.startsWith(`${prefix}.`)) continue;
    const path = name.slice(prefix.length + 1).split('.', MAX_DEPTH + 1);
    if (path.length <= MAX_DEPTH) put(root, path, value);
  }
  const value = valueOf(root);
  return Array.isArray(value) ? value : [];
}

function put(root: Node, path: readonly string[], value: AttributeValue): void {
  let node = root;
  for (const name of path.slice(0, -1)) {
    const member = node.get(name);
    const next: Node = member instanceof Map ? member : new Map();
    node.set(name, next);
    node = next;
  }
  const last = path.at(-1) ?? '';
  // `content` and `content.0.text` may both be there: what has members says more.
  if (!(node.get(last) instanceof Map)) node.set(last, value);
}

function valueOf(node: Node | AttributeValue): unknown {
  if (!(node instanceof Map)) return node;
  const entries = [...node];
  if (entries.every(([name]) => /^\d{1,9}$/.test(name)))
    return entries.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, member]) => valueOf(member));
  return Object.fromEntries(entries.map(([name, member]) => [name, valueOf(member)]));
}
