/**
 * Adds up the warnings that the service returns during an import. Keeps the invariant that each distinct warning is
 * kept once, and at most 100.
 *
 * Test: test/doors/import/importer.test.ts.
 */
/** A warning about accepted messages, and their number. */
export interface Warning {
  /** Text without the count, so that equal warnings about other messages are equal texts. */
  readonly text: string;
  /** 0 where the service gives no number. */
  readonly messages: number;
}

/** Maximum number of distinct warnings. */
const MAX_KEPT = 100;
const ENTRY = /(?:"(?:[^"\\]|\\.)*"|[^";]|;(?! )|"(?![^]*"))+/g;
const COUNTED = /^(.*) in (\d+) messages?: (.*)$/;

/** Parses an `X-Warnings` header: entries joined by `; `, with names in quotes. */
function parseWarnings(header: string): Warning[] {
  return (header.match(ENTRY) ?? [])
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [, what, messages, effect] = COUNTED.exec(entry) ?? [];
      if (what !== undefined) return { text: `${what}: ${effect}`, messages: Number(messages) };
      return { text: /^and \d+ more$/.test(entry) ? 'and more names' : entry, messages: 0 };
    });
}

/** Sums of warnings by text. */
export class WarningCounts {
  readonly #counts = new Map<string, number>();

  /** Counts the warnings of a header; returns the new ones. */
  add(header: string): Warning[] {
    return parseWarnings(header).filter(({ text, messages }) => {
      const known = this.#counts.get(text);
      if (known === undefined && this.#counts.size >= MAX_KEPT) return false;
      this.#counts.set(text, (known ?? 0) + messages);
      return known === undefined;
    });
  }

  all(): Warning[] {
    return [...this.#counts].map(([text, messages]) => ({ text, messages }));
  }
}
