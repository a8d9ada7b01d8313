/**
 * How the files of `lexicon/` are laid out: lists of words fill their lines, so that a list can be read at a glance and
 * a change is a line or two. `npm run format` does it; test/reader/document/lexicon-layout.test.ts watches it.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const LEXICON = resolve(import.meta.dirname, '../../lexicon');
/** UTF-16 units. */
const WIDTH = 110;
const INDENT = 2;

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** The JSON files of the lexicon, by their paths. */
export function lexiconFiles(): string[] {
  return readdirSync(LEXICON, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => join(LEXICON, name));
}

/** A JSON text in this layout. Throws SyntaxError when it is none. */
export function laidOut(text: string): string {
  return `${written(JSON.parse(text) as Json, 0, 0)}\n`;
}

/** `before`: what stands on the line already, units; `depth`: how far its lines are indented. */
function written(value: Json, depth: number, before: number): string {
  const line = inOneLine(value);
  if (typeof value !== 'object' || value === null) return line;
  // A comma may follow.
  if (depth > 0 && before + line.length < WIDTH) return line;
  const inner = depth + INDENT;
  const space = ' '.repeat(inner);
  const close = ' '.repeat(depth);
  if (isList(value)) {
    const items = value.map((item) => written(item, inner, inner));
    return `[\n${value.every(isPlain) ? filled(items, space) : items.map((item) => space + item).join(',\n')}\n${close}]`;
  }
  const entries = Object.entries(value).map(([key, item]) => {
    const name = `${JSON.stringify(key)}: `;
    return space + name + written(item, inner, inner + name.length);
  });
  return `{\n${entries.join(',\n')}\n${close}}`;
}

function filled(items: readonly string[], space: string): string {
  const lines: string[] = [];
  let line = '';
  for (const [place, item] of items.entries()) {
    const next = place < items.length - 1 ? `${item},` : item;
    if (line !== '' && line.length + 1 + next.length <= WIDTH) line += ` ${next}`;
    else {
      if (line !== '') lines.push(line);
      line = space + next;
    }
  }
  return [...lines, line].join('\n');
}

function inOneLine(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(inOneLine).join(', ')}]`;
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${inOneLine(item)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}

function isPlain(value: Json): boolean {
  return typeof value !== 'object' || value === null;
}

if (import.meta.main) {
  for (const file of lexiconFiles()) writeFileSync(file, laidOut(readFileSync(file, 'utf8')));
}
