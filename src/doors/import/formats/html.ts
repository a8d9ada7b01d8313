/**
 * Converts HTML to text. Takes linear time for any input.
 *
 * Test: test/doors/import/formats/html.test.ts.
 */
const BREAKS = new Set([
  'br',
  'p',
  'div',
  'li',
  'tr',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'ul',
  'ol',
  'table',
  'pre',
]);
/** Elements without visible text. */
const UNREAD = new Set(['style', 'script', 'head', 'title']);
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['hellip', '…'],
  ['mdash', '—'],
  ['ndash', '–'],
  ['lsquo', '‘'],
  ['rsquo', '’'],
  ['ldquo', '“'],
  ['rdquo', '”'],
  ['euro', '€'],
]);
/** Longest entity name. */
const MAX_ENTITY = 10;

/** Converts HTML to text as a mail or chat client shows it: tags dropped, breaks as line breaks, entities decoded. */
export function htmlText(html: string): string {
  const parts: string[] = [];
  let unread: string | null = null;
  // No tag starts after the last `>`. Searching for one each time would take quadratic time.
  const lastClose = html.lastIndexOf('>');
  for (let at = 0; at < html.length;) {
    const open = html.indexOf('<', at);
    const end = open === -1 ? html.length : open;
    if (unread === null) parts.push(decoded(html.slice(at, end)));
    if (open === -1) break;
    const name = /^\/?([a-z][a-z0-9]*)/i.exec(html.slice(open + 1, open + 20))?.[1]?.toLowerCase();
    if (open > lastClose || (name === undefined && html[open + 1] !== '!')) {
      // A literal `<`.
      if (unread === null) parts.push('<');
      at = open + 1;
      continue;
    }
    const isEnd = html[open + 1] === '/';
    if (unread !== null) unread = isEnd && name === unread ? null : unread;
    else if (name !== undefined && UNREAD.has(name) && !isEnd) unread = name;
    else if (name !== undefined && BREAKS.has(name)) parts.push('\n');
    at = html.indexOf('>', open) + 1;
  }
  const lines = parts
    .join('')
    .split('\n')
    .map((line) => line.trim());
  return lines
    .filter((line, index) => line !== '' || lines[index - 1] !== '')
    .join('\n')
    .trim();
}

function decoded(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(#?[a-z0-9]{1,10});/gi, (entity, name: string) => {
    if (name.length > MAX_ENTITY) return entity;
    if (!name.startsWith('#')) return ENTITIES.get(name.toLowerCase()) ?? entity;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
      ? String.fromCodePoint(code)
      : entity;
  });
}
