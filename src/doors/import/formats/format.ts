/**
 * The interface of an import format, and helpers for recognition. Each format is one file of this folder; `registry.ts`
 * lists them.
 *
 * Test: test/doors/import/formats/registry.test.ts.
 */
import type { Omissions } from '../../traces/omissions.ts';
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

/** A turn in our own line format; `createdAt` is a value that `readTime` accepts. */
export interface Turn {
  readonly role: string;
  readonly content: string;
  readonly userId?: string;
  readonly createdAt?: string | number;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A conversation in our own line format, validated like a line of a file. */
export interface ConvertedLine {
  /** Undefined if the entry has none; a digest of the turns then names it. */
  readonly id: string | undefined;
  readonly source?: string;
  readonly turns: readonly Turn[];
  readonly userId?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
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

/** Returns the objects of a list; empty if the value is no list. */
export function objectsOf(values: unknown): Record<string, unknown>[] {
  return Array.isArray(values) ? values.filter(isObject) : [];
}

/** Returns the share of values for which `holds` is true; 0 without values. */
export function shareOf(
  values: readonly unknown[],
  holds: (value: Record<string, unknown>) => boolean,
): number {
  if (values.length === 0) return 0;
  return values.filter((value) => isObject(value) && holds(value)).length / values.length;
}

/** Confidence by share: the greatest from one half on, because some entries may be broken; null for a share of 0. */
export function byShare(share: number, greatest: number, reason: string): Recognition | null {
  return share === 0 ? null : { confidence: greatest * Math.min(1, 0.5 + share), reason };
}

/** Lowers the confidence below `SURE` where the file lacks data that an import needs, and says why. */
export function unlessThin(
  recognition: Recognition | null,
  isThin: boolean,
  why: string,
): Recognition | null {
  if (recognition === null || !isThin) return recognition;
  return {
    confidence: Math.min(recognition.confidence, THIN),
    reason: `${recognition.reason}, but ${why}`,
  };
}

/**
 * As `byShare`, but at least `SURE`: for formats that were always imported without a question, however many lines are
 * broken.
 */
export function bySome(share: number, greatest: number, reason: string): Recognition | null {
  const recognition = byShare(share, greatest, reason);
  return recognition === null ? null : { reason, confidence: Math.max(SURE, recognition.confidence) };
}
