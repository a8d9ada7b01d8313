/**
 * Reads delimited text: RFC 4180 with any common delimiter, as spreadsheets and databases write it. Keeps the invariant
 * that a faulty row has its first line and the rows behind it are read, in bounded memory. Decision 0107 compares it
 * with the package csv-parse.
 *
 * Test: test/doors/import/csv.test.ts.
 */

/** One row: exactly one of `fields` and `fault` is set. */
export interface CsvRow {
  /** The line of the file in which the row begins, counted from 1. */
  readonly line: number;
  readonly fields: readonly string[] | null;
  readonly fault: string | null;
}

const DELIMITERS = [',', ';', '\t', '|'] as const;

/** Returns the delimiter that is most frequent in the first line outside quotes; null when it has none. */
export function delimiterOf(start: string): string | null {
  const counts = new Map<string, number>(DELIMITERS.map((delimiter) => [delimiter, 0]));
  let quoted = false;
  for (const character of start) {
    if (character === '"') quoted = !quoted;
    else if (!quoted && (character === '\n' || character === '\r')) break;
    else if (!quoted && counts.has(character)) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const [best] = [...counts].toSorted(([, a], [, b]) => b - a);
  return best === undefined || best[1] === 0 ? null : best[0];
}

/**
 * Yields the rows except blank lines. A row that is longer than `limit` characters, or in which the file ends inside
 * quotes, is a fault. Bytes that are not UTF-8 become U+FFFD.
 */
export async function* csvRows(
  chunks: AsyncIterable<Buffer>,
  options: { readonly delimiter: string; readonly limit: number },
): AsyncGenerator<CsvRow> {
  const decoder = new TextDecoder();
  const reader = new RowReader(options.delimiter, options.limit);
  for await (const chunk of chunks) yield* reader.take(decoder.decode(chunk, { stream: true }));
  yield* reader.take(decoder.decode());
  yield* reader.end();
}

class RowReader {
  readonly #delimiter: string;
  readonly #limit: number;
  #line = 1;
  #rowLine = 1;
  #fields: string[] = [];
  #field = '';
  #length = 0;
  /** `closing`: a quote came inside quotes; a second one makes it a literal quote. */
  #state: 'plain' | 'quoted' | 'closing' = 'plain';
  #wasQuoted = false;
  #afterReturn = false;

  constructor(delimiter: string, limit: number) {
    this.#delimiter = delimiter;
    this.#limit = limit;
  }

  *take(text: string): Generator<CsvRow> {
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const character = text[at] as string;
      const skipsNewline = this.#afterReturn && character === '\n';
      this.#afterReturn = false;
      if (skipsNewline) {
        from = at + 1;
        continue;
      }
      if (this.#state === 'quoted') {
        if (character === '"') {
          this.#add(text, from, at);
          from = at + 1;
          this.#state = 'closing';
        } else if (character === '\n') this.#line += 1;
        continue;
      }
      if (
        character === '"' &&
        (this.#state === 'closing' || (at === from && this.#field === '' && !this.#wasQuoted))
      ) {
        // The second of two quotes is a literal quote; a first one opens the field.
        from = this.#state === 'closing' ? at : at + 1;
        this.#state = 'quoted';
        this.#wasQuoted = true;
        continue;
      }
      this.#state = 'plain';
      if (character === this.#delimiter) {
        this.#add(text, from, at);
        from = at + 1;
        this.#endField();
      } else if (character === '\n' || character === '\r') {
        this.#add(text, from, at);
        from = at + 1;
        this.#afterReturn = character === '\r';
        this.#line += 1;
        const row = this.#endRow(null);
        if (row !== null) yield row;
      }
    }
    this.#add(text, from, text.length);
  }

  *end(): Generator<CsvRow> {
    const row = this.#endRow(this.#state === 'quoted' ? 'the file ends inside quotes' : null);
    if (row !== null) yield row;
  }

  #add(text: string, from: number, to: number): void {
    if (from >= to) return;
    this.#length += to - from;
    if (this.#length <= this.#limit) this.#field += text.slice(from, to);
  }

  #endField(): void {
    this.#fields.push(this.#field);
    this.#field = '';
    this.#wasQuoted = false;
  }

  #endRow(fault: string | null): CsvRow | null {
    const isBlank = this.#fields.length === 0 && this.#length === 0 && !this.#wasQuoted;
    this.#endField();
    const [line, fields, length] = [this.#rowLine, this.#fields, this.#length];
    this.#rowLine = this.#line;
    this.#fields = [];
    this.#length = 0;
    this.#state = 'plain';
    if (isBlank) return null;
    const reason = fault ?? (length > this.#limit ? `longer than ${this.#limit} characters` : null);
    return reason === null ? { line, fields, fault: null } : { line, fields: null, fault: reason };
  }
}
