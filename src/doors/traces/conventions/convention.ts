/**
 * How a convention is declared, and how a span is read by one. Keeps the invariant that what a declaration reads by
 * name is what the decoder keeps. Test: test/doors/traces/conventions.
 */
import type { Message } from '../messages.ts';
import type { ObservationKind } from '../observation.ts';
import type { OmissionCounts } from '../omissions.ts';
import type { Attributes, AttributeValue, Span } from '../span.ts';
import { isObject } from '../values.ts';
import { listIn } from './flattened.ts';
import { ofTexts, parsed, recorded } from './recorded.ts';

export type Role = 'user' | 'assistant';

/** How one family of libraries writes calls of models and agents into spans. */
export interface Convention {
  /** What a span is, by the first rule that tells. A span of which none tells does not follow the convention. */
  readonly kinds: readonly KindRule[];
  /** Messages of spans with this attribute, by which a kind is told, alone are read. */
  readonly needs?: string;
  /** What went in, and what came out: the first that is recorded. */
  readonly asked: readonly Source[];
  readonly answered: readonly Source[];
}

export type KindRule =
  /** The value tells, in any case: `null` tells nothing, and `others` is what all other values mean. */
  | {
      readonly attribute: string;
      readonly kinds: Readonly<Record<string, ObservationKind | null>>;
      readonly others?: ObservationKind;
    }
  /** One of the attributes is there, and `with` beside it. `isTop`: nothing is above the span. */
  | {
      readonly has: readonly string[];
      readonly with?: string;
      readonly isTop?: true;
      readonly kind: ObservationKind;
    }
  | { readonly event: (name: string) => boolean; readonly kind: ObservationKind };

/** Where messages are. */
export interface Source {
  /** The beginnings of the names of the attributes that are read. */
  readonly names: readonly string[];
  /** Returns undefined if nothing is recorded here. Parts that hold no text are counted in `omitted`. */
  read(span: Span, role: Role, omitted: OmissionCounts): readonly Message[] | undefined;
}

/** An attribute holds messages, in JSON or structured, or a text. */
export function json(name: string): Source {
  return {
    names: [name],
    read: ({ attributes }, role, omitted) => recorded(attributes.get(name), role, omitted),
  };
}

/** The first of these attributes holds all that went in or came out: messages, texts, or an object around them. */
export function whole(...names: readonly string[]): Source {
  return {
    names,
    read: ({ attributes }, role, omitted) =>
      recorded(unwrapped(ofTexts(firstOf(names, attributes), role)), role, omitted),
  };
}

/** Messages are flattened into attributes `prefix.0.…`, `prefix.1.…`. */
export function flattened(
  prefix: string,
  messageOf: (member: unknown, role: Role, omitted: OmissionCounts) => readonly Message[],
): Source {
  return {
    names: [`${prefix}.`],
    read({ attributes }, role, omitted) {
      const list = listIn(attributes, prefix);
      return list.length === 0 ? undefined : list.flatMap((member) => messageOf(member, role, omitted));
    },
  };
}

/** The beginnings of the names of all attributes that a convention reads. */
export function namesOf({ kinds, asked, answered }: Convention): string[] {
  const ofKinds = kinds.flatMap((rule): (string | undefined)[] =>
    'attribute' in rule ? [rule.attribute] : 'has' in rule ? [...rule.has, rule.with] : [],
  );
  const ofSources = [...asked, ...answered].flatMap(({ names }) => names);
  return [...ofKinds, ...ofSources].filter((name) => name !== undefined);
}

/** Returns what a span is; undefined: it does not follow the convention. */
export function kindOf({ kinds }: Convention, span: Span): ObservationKind | undefined {
  for (const rule of kinds) {
    const kind = kindBy(rule, span);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

function kindBy(rule: KindRule, { attributes, events, parentSpanId }: Span): ObservationKind | undefined {
  if ('event' in rule) return events.some(({ name }) => rule.event(name)) ? rule.kind : undefined;
  if ('has' in rule) {
    const isBeside = rule.with === undefined || attributes.has(rule.with);
    const isThere = firstOf(rule.has, attributes) !== undefined;
    return isThere && isBeside && (rule.isTop !== true || parentSpanId === undefined) ? rule.kind : undefined;
  }
  // MLflow writes JSON, so its texts are in quotes.
  const value = parsed(attributes.get(rule.attribute));
  if (typeof value !== 'string') return undefined;
  const name = value.toLowerCase();
  return Object.hasOwn(rule.kinds, name) ? (rule.kinds[name] ?? undefined) : rule.others;
}

/** Returns the messages of a span; undefined: none are recorded in this way. */
export function messagesIn(
  convention: Convention,
  part: 'asked' | 'answered',
  span: Span,
  omitted: OmissionCounts,
): readonly Message[] | undefined {
  const { needs } = convention;
  if (needs !== undefined && !span.attributes.has(needs)) return undefined;
  for (const source of convention[part]) {
    const found = source.read(span, part === 'asked' ? 'user' : 'assistant', omitted);
    if (found !== undefined) return found;
  }
  return undefined;
}

function firstOf(names: readonly string[], attributes: Attributes): AttributeValue | undefined {
  return names.map((name) => attributes.get(name)).find((value) => value !== undefined && value !== '');
}

/** The one member of an object that wraps all others: `{"input": {"messages": […]}}`. */
function unwrapped(value: unknown): unknown {
  const inner = parsed(value);
  if (!isObject(inner)) return value;
  const only = Object.values(inner);
  return only.length === 1 && isObject(only[0]) ? only[0] : inner;
}
