/**
 * Renders a message as a self-contained HTML page. All text is escaped.
 *
 * Test: test/doors/alerts/html.test.ts.
 */
import type { Line, Section } from './body.ts';
import { oneLine } from './texts.ts';

export interface HtmlPage {
  /** Plain text, not escaped, as are the sections. */
  readonly title: string;
  readonly sections: readonly Section[];
  /** Link to the dashboard; left out unless it is http or https. */
  readonly link: string;
  /** What the paths of lines stand behind; they are left out unless it is http or https. Default: ''. */
  readonly publicUrl?: string;
}

const FONT = 'font-family:system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif';

/** Renders the page. Styles are inline, because mail clients drop others. */
export function htmlOf({ title, sections, link, publicUrl = '' }: HtmlPage): string {
  const open = /^https?:\/\//.test(link)
    ? `<p style="margin:28px 0 0"><a href="${escapeHtml(link)}" style="color:#0b5cad">Open in Undertone</a></p>`
    : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(oneLine(title))}</title>
</head>
<body style="margin:0;padding:24px 16px">
<main style="${FONT};font-size:16px;line-height:1.5;max-width:640px;margin:0 auto">
<h1 style="font-size:22px;line-height:1.3;margin:0 0 16px">${escapeHtml(oneLine(title))}</h1>
${sections.map((section) => sectionHtml(section, publicUrl)).join('\n')}
${open}
</main>
</body>
</html>
`;
}

export function textOfLine(line: Line): string {
  return typeof line === 'string' ? line : line.text;
}

function lineHtml(line: Line, publicUrl: string): string {
  const text = escapeHtml(oneLine(textOfLine(line)));
  if (typeof line === 'string' || !/^https?:\/\//.test(publicUrl)) return text;
  return `<a href="${escapeHtml(`${publicUrl}${line.link}`)}" style="color:inherit">${text}</a>`;
}

function sectionHtml({ title, lines }: Section, publicUrl: string): string {
  const escaped = lines.map((line) => lineHtml(line, publicUrl));
  if (title === undefined) return escaped.map((line) => `<p style="margin:0 0 8px">${line}</p>`).join('\n');
  const items = escaped.map((line) => `<li style="margin:0 0 4px">${line}</li>`).join('\n');
  const heading = `<h2 style="font-size:17px;margin:24px 0 8px">${escapeHtml(oneLine(title))}</h2>`;
  return `${heading}\n<ul style="margin:0;padding-left:20px">\n${items}\n</ul>`;
}

const ESCAPED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPED[character] as string);
}
