/** What a format of conversations is. One file of this folder for each; `registry.ts` lists them. */
import type { Omissions } from '../../traces/omissions.ts';
import { isObject } from '../../traces/values.ts';

/** How a file holds its entries. */
export type Shape = 'jsonl' | 'json' | 'csv' | 'parquet' | 'chat';

/** The beginning of a file, as far as it tells what the file is. */
export interface Sample {
  readonly shape: Shape;
  /** The file's name without folder. */
  readonly name: string;
  /** The first entries that could be read, in order. Rows of tables are objects, too. */
  readonly values: readonly unknown[];
}

export interface Recognition {
  /** 0 to 1. Below `SURE` a person is asked, or the import stops. */
  readonly confidence: number;
  /** What speaks for it, for people: `entries have mapping and current_node`. */
  readonly reason: string;
}

/** From here on a file is imported without a question. */
export const SURE = 0.6;
/** What is known to lack something. */
const THIN = 0.5;

/** One turn in our own line format; `createdAt` as `readTime` takes it. */
export interface Turn {
  readonly role: string;
  readonly content: string;
  readonly userId?: string;
  readonly createdAt?: string | number;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A conversation in our own line format. The importer checks it as it checks a line of a file. */
export interface ConvertedLine {
  /** Undefined: the entry names none, and a digest of what was said does. */
  readonly id: string | undefined;
  readonly source?: string;
  readonly turns: readonly Turn[];
  readonly userId?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** An entry as a format reads it: a conversation, nothing to import and why, or a mistake in the file. */
export type Reading =
  | { readonly line: ConvertedLine; readonly omitted: Omissions }
  | { readonly leftOut: string }
  | { readonly fault: string };

interface Named {
  /** As `--format` takes it. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** How confident one can be that the file is of this format; null: it is not. Any value must be taken. */
  recognise(sample: Sample): Recognition | null;
}

/** An entry is a conversation. */
export interface EntryFormat extends Named {
  readonly kind: 'entries';
  read(value: unknown): Reading;
}

/** Where a row belongs. `kept` is what assembling needs of it, as JSON takes it. */
export interface PlacedRow {
  /** Null: the row does not say; another row of its part may. */
  readonly conversation: string | null;
  /** Rows of a part belong together, and name the conversation where none of them does. */
  readonly part: string;
  /** Microseconds since 1970, where the row says so: rows of a conversation are in this order, then in file order. */
  readonly at: number | null;
  readonly kept: unknown;
}

/** Where a row belongs, nothing to import and why, or a mistake in the file. */
export type Placement = PlacedRow | { readonly leftOut: string } | { readonly fault: string };

/** An entry is a part of a conversation; the parts may stand anywhere in the file. */
export interface RowFormat extends Named {
  readonly kind: 'rows';
  /** A conversation may be spread over the files of an import: they are read as one. */
  readonly joins: boolean;
  /** `file`: the name of the file that the row stands in. */
  place(value: unknown, file: string): Placement;
  /** Where rows before say where a row belongs: begins a reading of all of them, in order. */
  begin?(): (value: unknown, file: string) => Placement;
  /** `rows` are the `kept` of one conversation, in order. */
  assemble(conversation: string, rows: readonly unknown[]): Reading;
}

export type Format = EntryFormat | RowFormat;

/** The objects among the values; none for what is no list. */
export function objectsOf(values: unknown): Record<string, unknown>[] {
  return Array.isArray(values) ? values.filter(isObject) : [];
}

/** The share of the sample's values for which something holds; 0 without values. */
export function shareOf(
  values: readonly unknown[],
  holds: (value: Record<string, unknown>) => boolean,
): number {
  if (values.length === 0) return 0;
  return values.filter((value) => isObject(value) && holds(value)).length / values.length;
}

/** Recognised by members: the greatest confidence from half of the entries on, as the others may be broken. */
export function byShare(share: number, greatest: number, reason: string): Recognition | null {
  return share === 0 ? null : { confidence: greatest * Math.min(1, 0.5 + share), reason };
}

/** Not sure, and why, where something is missing that makes an import worth it. */
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

/** The same for what has always been imported without a question, however many lines are broken. */
export function bySome(share: number, greatest: number, reason: string): Recognition | null {
  const recognition = byShare(share, greatest, reason);
  return recognition === null ? null : { reason, confidence: Math.max(SURE, recognition.confidence) };
}
