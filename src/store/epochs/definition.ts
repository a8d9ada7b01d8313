/**
 * The definition of a shard's rows: the versions of all views, and the analysis. Rows of different definitions are
 * never mixed.
 *
 * Test: test/store/epochs/definition.test.ts.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { quoted, withDatabase } from '../duckdb.ts';
import { replaceFile } from './epochs.ts';
import type { View } from '../view-files.ts';

/** A parsed definition (`definitionOf`). */
export interface Definition {
  readonly views: ReadonlyMap<string, string>;
  /** Versions by the words model, enrichment and assignment. */
  readonly analysis: ReadonlyMap<string, string>;
}

const ANALYSIS_NAMES: Readonly<Record<string, string>> = {
  model: 'embedding model',
  enrichment: 'rules and heads for messages',
  assignment: 'rules for topics, names and titles',
};

/** Returns the definition: each view with its version, and the analysis. A change of it needs a rebuild. */
export function definitionOf(views: readonly View[], analysis: string): string {
  return `${views
    .map((view) => `${view.name}:${view.version}`)
    .toSorted()
    .join(' ')} ${analysis}`;
}

export function parseDefinition(definition: string): Definition {
  const views = new Map<string, string>();
  const analysis = new Map<string, string>();
  for (const [, name = '', value = ''] of definition.matchAll(/(\w+):(.*?)(?= \w+:|$)/g))
    (name in ANALYSIS_NAMES ? analysis : views).set(name, value);
  return { views, analysis };
}

/** The differences of two definitions, one phrase each, such as `view fact: version 2 → 3`. */
export function changesBetween(from: string, to: string): string[] {
  const [before, after] = [parseDefinition(from), parseDefinition(to)];
  const changes: string[] = [];
  for (const name of [...new Set([...before.views.keys(), ...after.views.keys()])].toSorted()) {
    const [old, now] = [before.views.get(name), after.views.get(name)];
    if (old === now) continue;
    if (old === undefined) changes.push(`view ${name}: new`);
    else changes.push(now === undefined ? `view ${name}: gone` : `view ${name}: version ${old} → ${now}`);
  }
  for (const [name, label] of Object.entries(ANALYSIS_NAMES)) {
    const [old, now] = [before.analysis.get(name) ?? '', after.analysis.get(name) ?? ''];
    if (old !== now) changes.push(`${label}: ${old} → ${now}`);
  }
  return changes;
}

/** Returns true if both definitions have the same model, enrichment and assignment. */
export function sameAnalysis(from: string, to: string): boolean {
  const [before, after] = [parseDefinition(from).analysis, parseDefinition(to).analysis];
  return Object.keys(ANALYSIS_NAMES).every((name) => before.get(name) === after.get(name));
}

/** Returns true if vectors of both definitions can be compared. */
export function sameModel(from: string, to: string): boolean {
  return parseDefinition(from).analysis.get('model') === parseDefinition(to).analysis.get('model');
}

/**
 * Compares a view with an earlier definition. `changed`: its own version differs. `depends`: only views before it
 * changed, so its rows may differ. `same`: neither.
 */
export function standingOf(view: View, views: readonly View[], from: string): 'same' | 'depends' | 'changed' {
  const before = parseDefinition(from).views;
  const changed = ({ name, version }: View): boolean => before.get(name) !== String(version);
  if (changed(view)) return 'changed';
  const earlier = new Set<View>();
  const follow = ({ after }: View): void => {
    for (const other of views) {
      if (!after.includes(other.name) || earlier.has(other)) continue;
      earlier.add(other);
      follow(other);
    }
  };
  follow(view);
  return [...earlier].some(changed) ? 'depends' : 'same';
}

/** Writes the definition beside a shard's database, as only the worker can open the database. */
export function writeDefinition(directory: string, definition: string): void {
  const file = join(directory, 'DEFINITION');
  if (!existsSync(file) || readFileSync(file, 'utf8') !== definition) replaceFile(file, definition);
}

/** The definition of a shard's rows; null if it has none, or no note exists and its database cannot be opened. */
export async function readDefinition(directory: string): Promise<string | null> {
  const file = join(directory, 'state.duckdb');
  if (!existsSync(file)) return null;
  const note = join(directory, 'DEFINITION');
  if (existsSync(note)) return readFileSync(note, 'utf8');
  try {
    const meta = await withDatabase({ threads: 1 }, async (connection) => {
      await connection.run(`attach ${quoted(file)} as st (read_only)`);
      return connection.one('select definition from st.meta');
    });
    return (meta?.['definition'] as string | undefined) ?? null;
  } catch {
    return null;
  }
}
