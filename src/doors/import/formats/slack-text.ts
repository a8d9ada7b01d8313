/**
 * Converts a Slack message to plain text: mentions by name, links and special words as Slack displays them. Source:
 * docs.slack.dev/messaging/formatting-message-text.
 *
 * Test: test/doors/import/formats/slack.test.ts.
 */
import { isObject, textOf } from '../../traces/values.ts';
import { objectsOf } from './format.ts';

/** Maximum depth of nested blocks and attachments. */
const MOST_LEVELS = 8;

/** Returns the text of a message; messages of bots often have it in attachments or blocks only. */
export function slackText(
  message: Record<string, unknown>,
  nameOf: (id: string) => string | undefined,
): string {
  const own = textOf(message['text'])?.trim() ?? '';
  const text = own !== '' ? own : blockText(message['blocks'], 0).trim();
  return plainText(text !== '' ? text : attachmentText(message['attachments']), nameOf).trim();
}

function attachmentText(attachments: unknown): string {
  return objectsOf(attachments)
    .map((attachment) => {
      const { pretext, title, text, fallback, blocks } = attachment;
      const parts = [pretext, title, text].flatMap((part) => textOf(part) ?? []);
      return parts.length > 0 ? parts.join('\n') : blockText(blocks, 0) || (textOf(fallback) ?? '');
    })
    .filter((text) => text !== '')
    .join('\n');
}

/** Joins the texts of blocks: `text` is a string or an object with one; rich text consists of elements. */
function blockText(blocks: unknown, level: number): string {
  if (level > MOST_LEVELS) return '';
  return objectsOf(blocks)
    .map((block) => {
      const { type, text, elements, fields, user_id: user, url } = block;
      if (type === 'actions') return '';
      if (type === 'user' && typeof user === 'string') return `<@${user}>`;
      if (type === 'link' && typeof url === 'string')
        return typeof text === 'string' ? `<${url}|${text}>` : `<${url}>`;
      const own = isObject(text) ? (textOf(text['text']) ?? '') : (textOf(text) ?? '');
      const inner = [blockText(elements, level + 1), blockText(fields, level + 1)];
      return [own, ...inner].filter((part) => part !== '').join('\n');
    })
    .filter((part) => part !== '')
    .join(level === 0 ? '\n' : '');
}

/** Replaces Slack's markup in angle brackets; brackets that a user typed are entities. Takes linear time. */
function plainText(text: string, nameOf: (id: string) => string | undefined): string {
  let plain = '';
  let from = 0;
  for (;;) {
    const start = text.indexOf('<', from);
    const end = start === -1 ? -1 : text.indexOf('>', start);
    if (end === -1) return plain + decoded(text.slice(from));
    plain += decoded(text.slice(from, start)) + decoded(marked(text.slice(start + 1, end), nameOf));
    from = end + 1;
  }
}

/** Converts one mark: `@U123|ana`, `#C123|general`, `!here`, `https://a.b|label`. */
function marked(mark: string, nameOf: (id: string) => string | undefined): string {
  const bar = mark.indexOf('|');
  const [target, label] = bar === -1 ? [mark, ''] : [mark.slice(0, bar), mark.slice(bar + 1)];
  const rest = target.slice(1);
  switch (target[0]) {
    case '@':
      return `@${nameOf(rest) ?? (label || rest)}`;
    case '#':
      return `#${label || (nameOf(rest) ?? rest)}`;
    case '!':
      return label || `@${rest.split('^')[0]}`;
    default: {
      const address = target.startsWith('mailto:') ? target.slice('mailto:'.length) : target;
      return label === '' || label === address || address.endsWith(`://${label}`)
        ? address
        : `${label} (${address})`;
    }
  }
}

function decoded(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
