/**
 * The index of a state in the object store: the files of a database are there in pieces, and pieces in packs. The index
 * says where each piece is.
 *
 * Test: test/cluster/state-packs.test.ts.
 */
import { readFileSync, rmSync } from 'node:fs';
import { isDownloaded, type ObjectStore } from '../store/objects/object-store.ts';
import type { StateObject } from './views-bucket.ts';

/** The part of a file before its blocks, and a block: what DuckDB writes at a time. */
const HEAD_BYTES = 12_288;
export const PIECE_BYTES = 262_144;

/** A part of a file: pack (place in `packs`), offset and length there, and SHA-256 as base64. */
export type Piece = readonly [pack: number, offset: number, bytes: number, sha256: string];

/** The files of one state. */
export interface StateIndex {
  /** SHA-256 of each pack, hexadecimal. */
  readonly packs: readonly string[];
  readonly tables: readonly Piece[];
  readonly log: readonly Piece[];
}

export const FILES = ['tables', 'log'] as const;
export type File = (typeof FILES)[number];

/** Where a piece begins in its file. */
export const positionOf = (place: number, file: File): number =>
  file === 'log' ? place * PIECE_BYTES : Math.max(0, HEAD_BYTES + (place - 1) * PIECE_BYTES);
export const lengthOf = (place: number, file: File): number =>
  file === 'tables' && place === 0 ? HEAD_BYTES : PIECE_BYTES;

export interface StatePacksOptions {
  readonly store: Pick<ObjectStore, 'upload' | 'download' | 'list' | 'remove'>;
  /** Beginning of the names of a shard's objects. */
  readonly prefix: string;
  /** Beginning of the paths of temporary files, of which nothing is left. */
  readonly temporary: string;
}

/** A stored state: the index is the object itself. */
export type StoredPacks = Pick<StateObject, 'name' | 'sha256' | 'packs'>;

/** Name of a pack, or of an index. */
export const nameOf = (prefix: string, sha256: string): string => `${prefix}states/${sha256}`;

/** Null if the object is gone or damaged. */
export async function readIndex(
  { store, temporary }: StatePacksOptions,
  { name, sha256 }: StoredPacks,
  signal?: AbortSignal,
): Promise<StateIndex | null> {
  const path = `${temporary}.${sha256}`;
  try {
    if (!(await isDownloaded(store, { name, sha256 }, path, signal))) return null;
    return JSON.parse(readFileSync(path, 'utf8')) as StateIndex;
  } finally {
    rmSync(path, { force: true });
  }
}
