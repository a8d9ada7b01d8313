/** Something that the service says of accepted messages, and of how many. */
export interface Warning {
  /** Without the count, so that the same warning about other messages is the same text. */
  readonly text: string;
  /** 0 where the service gives no number. */
  readonly messages: number;
}

/** Distinct warnings that are kept apart. */
const MAX_KEPT = 100;
const ENTRY = /(?:"(?:[^"\\]|\\.)*"|[^";]|;(?! )|"(?![^]*"))+/g;
const COUNTED = /^(.*) in (\d+) messages?: (.*)$/;

/** Reads an `X-Warnings` header: entries joined by `; `, in which names stand in quotes. */
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

/** Adds up the warnings of an import, each distinct one once. */
export class WarningCounts {
  readonly #counts = new Map<string, number>();

  /** Counts what a header says; returns the warnings that come for the first time. */
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
