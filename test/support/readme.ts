/** Reads and runs what a README shows, without needing a shell or curl on the machine. */

/** A fenced block. */
export interface FencedBlock {
  readonly language: string;
  readonly text: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
}

export function fencedBlocks(markdown: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  const lines = markdown.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const fence = /^```(\w*)$/.exec(lines[index] ?? '');
    if (fence === null) continue;
    const end = lines.indexOf('```', index + 1);
    if (end === -1) throw new Error(`line ${index + 1}: the fence is not closed`);
    blocks.push({ language: fence[1] ?? '', text: lines.slice(index + 1, end).join('\n'), line: index + 1 });
    index = end;
  }
  return blocks;
}

/**
 * Splits shell text into commands of words as a POSIX shell does: quotes, `\` at a line's end, `$NAME`
 * outside single quotes, comments, `;` and newlines between commands. Nothing else is understood.
 */
export function shellCommands(text: string, variables: Readonly<Record<string, string>>): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  const endWord = (): void => {
    if (word !== null) words.push(word);
    word = null;
  };
  const endCommand = (): void => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? '';
    if (quote !== "'" && character === '$') {
      const name = /^\w+/.exec(text.slice(index + 1))?.[0];
      if (name === undefined) throw new Error(`unsupported: ${text.slice(index, index + 10)}`);
      const value = variables[name];
      if (value === undefined) throw new Error(`$${name} is not set`);
      word = (word ?? '') + value;
      index += name.length;
    } else if (quote !== null) {
      if (character === quote) quote = null;
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (character === '\\') {
      index += 1;
      if (text[index] !== '\n') word = (word ?? '') + (text[index] ?? '');
    } else if (character === '\n' || character === ';') endCommand();
    else if (character === ' ') endWord();
    else if (character === '#' && word === null) {
      while (index + 1 < text.length && text[index + 1] !== '\n') index += 1;
    } else word = (word ?? '') + character;
  }
  if (quote !== null) throw new Error('a quote is not closed');
  endCommand();
  return commands;
}

/** The request that a curl command line sends. Throws on an option that is not known here. */
export function curlRequest(words: readonly string[]): Request {
  let url: string | undefined;
  let asQuery = false;
  let method: string | undefined;
  const headers = new Headers();
  const data: string[] = [];
  for (let index = 1; index < words.length; index += 1) {
    const word = words[index] ?? '';
    const value = (): string => {
      index += 1;
      const next = words[index];
      if (next === undefined) throw new Error(`${word} needs a value`);
      return next;
    };
    if (word === '-H') {
      const header = value();
      const colon = header.indexOf(':');
      headers.set(header.slice(0, colon), header.slice(colon + 1).trim());
    } else if (word === '-d') data.push(value());
    else if (word === '-X') method = value();
    else if (/^-[sGi]+$/.test(word)) asQuery ||= word.includes('G');
    else if (word.startsWith('-')) throw new Error(`curl option ${word} is not known to this test`);
    else url = word;
  }
  if (url === undefined) throw new Error('curl without an address');
  if (data.length === 0 || asQuery) {
    const query = data.join('&');
    return new Request(query === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`, {
      headers,
      ...(method === undefined ? {} : { method }),
    });
  }
  return new Request(url, { method: method ?? 'POST', headers, body: data.join('&') });
}

/** The shape of a JSON value: names and types, arrays by their first element, without the values. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, shapeOf(member)]),
  );
}
