/**
 * The interface of an import format, and helpers for recognition. Each format is one file of this folder; `registry.ts`
 * lists them.
 *
 * Test: test/doors/import/formats/registry.test.ts.
 */
import type { GivenFeedback } from '../../traces/given-feedback.ts';
import { OmissionCounts, type Omissions } from '../../traces/omissions.ts';
import { isObject } from '../../traces/values.ts';

/** The structure of a file. */
export type Shape = 'jsonl' | 'json' | 'csv' | 'parquet' | 'chat';

/** The beginning of a file, for recognition. */
export interface Sample {
  readonly shape: Shape;
  /** File name without folder. */
  readonly name: string;
  /** The first readable entries, in order. Table rows are objects too. */
  readonly values: readonly unknown[];
}

export interface Recognition {
  /** 0 to 1. Below `SURE` the importer asks a person or stops. */
  readonly confidence: number;
  /** Evidence, for people: `entries have mapping and current_node`. */
  readonly reason: string;
}

/** Confidence from which a file is imported without a question. */
export const SURE = 0.6;
/** Highest confidence of a file that lacks part of its conversations. */
const THIN = 0.5;

/** In chats without marked ends, a message after 12 hours starts another conversation; milliseconds. */
export const PAUSE_MS = 12 * 3600 * 1000;

/** A turn in our own line format; `createdAt` is a value that `readTime` accepts. */
export interface Turn {
  readonly role: string;
  readonly content: string;
  readonly userId?: string | undefined;
  readonly createdAt?: string | number | undefined;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** What was given on it. */
  readonly feedback?: readonly GivenFeedback[] | undefined;
}

/** A conversation in our own line format, validated like a line of a file. */
export interface ConvertedLine {
  /** Undefined if the entry has none; a digest of the turns then names it. */
  readonly id: string | undefined;
  readonly source?: string | undefined;
  readonly turns: readonly Turn[];
  readonly userId?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** Result of reading an entry: a conversation, a reason for leaving it out, or a fault of the file. */
export type Reading =
  | { readonly line: ConvertedLine; readonly omitted: Omissions }
  | { readonly leftOut: string }
  | { readonly fault: string };

interface Named {
  /** Argument of `--format`. */
  readonly name: string;
  /** Name for people. */
  readonly title: string;
  /** Returns the confidence that the file has this format, or null if it has not. Accepts any values. */
  recognise(sample: Sample): Recognition | null;
}

/** A format whose entries are conversations. */
export interface EntryFormat extends Named {
  readonly kind: 'entries';
  read(value: unknown): Reading;
}

/** The place of a row. `kept` is a JSON value with the data that `assemble` needs. */
export interface PlacedRow {
  /** Null if the row does not name it; another row of its part may. */
  readonly conversation: string | null;
  /** Rows of one part belong together; the part names the conversation if none of them does. */
  readonly part: string;
  /**
   * Microseconds since 1970, or null. Rows of a conversation are sorted by it if all have one; otherwise they keep file
   * order.
   */
  readonly at: number | null;
  readonly kept: unknown;
}

/** The place of a row, a reason for leaving it out, or a fault of the file. */
export type Placement = PlacedRow | { readonly leftOut: string } | { readonly fault: string };

/** A format whose entries are parts of conversations, in any order. */
export interface RowFormat extends Named {
  readonly kind: 'rows';
  /** True if a conversation may span several files of an import, which are then read as one. */
  readonly joins: boolean;
  /** `file` is the name of the row's file. */
  place(value: unknown, file: string): Placement;
  /** Set where earlier rows decide the place of later ones: starts reading all rows, in order. */
  begin?(): (value: unknown, file: string) => Placement;
  /** `rows` are the `kept` values of one conversation, in order. */
  assemble(conversation: string, rows: readonly unknown[]): Reading;
}

export type Format = EntryFormat | RowFormat;

/** The entry of a conversation with its messages, and how one becomes a turn. */
interface Told extends Omit<ConvertedLine, 'turns'> {
  readonly messages: readonly unknown[];
  /** A turn, a reason for leaving the message out, or its fault; null leaves it out uncounted. */
  turn(
    message: Record<string, unknown>,
    index: number,
  ):
    | (Omit<Turn, 'role'> & { readonly role: string | undefined })
    | string
    | { readonly fault: string }
    | null;
  /** The fault of a message that is no object or has no role. */
  faultAt(index: number): string;
}

/** Declares a format whose entries are conversations. What `read` leaves out of one, it counts in `omitted`. */
export function conversations({
  read,
  ...named
}: Named & {
  read(
    value: Record<string, unknown>,
    omitted: OmissionCounts,
  ): Told | Exclude<Reading, { readonly line: ConvertedLine }>;
}): EntryFormat {
  return {
    kind: 'entries',
    ...named,
    read(value) {
      if (!isObject(value)) return { fault: 'not a JSON object' };
      const omitted = new OmissionCounts();
      const told = read(value, omitted);
      if (!('messages' in told)) return told;
      const { messages, turn: turnOf, faultAt, ...line } = told;
      const turns: Turn[] = [];
      for (const [index, message] of messages.entries()) {
        const turn = isObject(message) ? turnOf(message, index) : { fault: faultAt(index) };
        if (turn === null) continue;
        if (typeof turn === 'string') omitted.add(turn);
        else if ('fault' in turn) return turn;
        else if (turn.role === undefined) return { fault: faultAt(index) };
        else if (turn.content.trim() === '') omitted.add('message without text');
        else turns.push({ ...turn, role: turn.role });
      }
      return { line: { ...line, turns }, omitted: omitted.all };
    },
  };
}

/** Returns the objects of a list; empty if the value is no list. */
export function objectsOf(values: unknown): Record<string, unknown>[] {
  return Array.isArray(values) ? values.filter(isObject) : [];
}

/** How the entries of a format are told from others. */
interface Evidence {
  /** True of an entry of the format. Accepts any object. */
  holds(value: Record<string, unknown>): boolean;
  /** Confidence of a file where `holds` is true from half of the entries on: the others may be broken. */
  readonly confidence: number;
  readonly reason: string;
  /** Keeps the confidence at `SURE` however many entries are broken: the format was always imported without a question. */
  readonly alwaysSure?: true;
  /** Data that an import needs. If no entry has it, the confidence is below `SURE`, and `otherwise` says why. */
  readonly needs?: { isIn(value: Record<string, unknown>): boolean; readonly otherwise: string };
}

/** Recognises a file by the share of its entries that are of the format; null for a share of 0. */
export function byShare({
  holds,
  confidence: most,
  reason,
  alwaysSure,
  needs,
}: Evidence): Named['recognise'] {
  return ({ values }) => {
    const objects = values.filter(isObject);
    const share = objects.filter((value) => holds(value)).length / values.length;
    // Also without values.
    if (!(share > 0)) return null;
    const confidence = Math.max(most * Math.min(1, 0.5 + share), alwaysSure ? SURE : 0);
    if (needs === undefined || objects.some((value) => needs.isIn(value))) return { confidence, reason };
    return { confidence: Math.min(confidence, THIN), reason: `${reason}, but ${needs.otherwise}` };
  };
}
