/**
 * What a draft is made from, and which drafts of a model are accepted. Keeps the invariants that the data holds quotes
 * and names without personal data alone, and that an accepted draft has places to fill in, no links, no number that the
 * data lacks, and no personal data.
 *
 * Test: test/doors/writer/drafter.test.ts.
 */
import { HIDDEN, redact } from '../../reader/personal/redact.ts';
import { languageFault, plain, UNPLAIN } from './answers.ts';

/** Stands in a draft where nobody told the answer, in every language. */
export const OPEN_PLACE = '[to be filled in]';

/** The parts of a brief that a draft is made from. Its quotes are without personal data. */
export interface DraftSource {
  readonly gap: {
    readonly name: string;
    /** KNOWLEDGE: an article is drafted; TOOL: a requirement. */
    readonly gapType: 'TOOL' | 'KNOWLEDGE';
    readonly description: string;
  };
  readonly groups: readonly {
    readonly topic: { readonly name: string } | null;
    readonly sessions: number;
    readonly questions: readonly { readonly text: string }[];
  }[];
  readonly arguments: readonly { readonly kind: string; readonly requests: number }[];
  readonly answers: readonly { readonly text: string }[];
}

/** What the model is sent. */
export interface DraftData {
  readonly gap: DraftSource['gap'];
  readonly asked: readonly {
    readonly topic: string;
    readonly conversations: number;
    readonly questions: readonly string[];
  }[];
  /** Kinds of values that the requests hold, and in how many of them each stands. */
  readonly requestsHold: DraftSource['arguments'];
  readonly assistantSays: readonly string[];
}

/** Most characters of questions that are sent; the rarest groups are left out. */
const MOST_ASKED = 8000;
const LEAST_LENGTH = 40;
const MOST_LENGTH = 12_000;
/** Maximum foreign numbers named to the model. */
const NAMED_NUMBERS = 8;

/** Returns what the model is sent; null if no question can be quoted. */
export function draftDataOf({ gap, groups, arguments: held, answers }: DraftSource): DraftData | null {
  let length = 0;
  const asked = groups.flatMap(({ topic, sessions, questions }) => {
    const texts = questions
      .map(({ text }) => text)
      .filter(({ length: more }) => (length += more) <= MOST_ASKED);
    if (texts.length === 0) return [];
    return [{ topic: redact(topic?.name ?? ''), conversations: sessions, questions: texts }];
  });
  if (asked.length === 0) return null;
  return {
    gap: { ...gap, name: redact(gap.name), description: redact(gap.description) },
    asked,
    requestsHold: held.map(({ kind, requests }) => ({ kind, requests })),
    assistantSays: answers.map(({ text }) => text),
  };
}

/** An accepted draft, or a fault. `named`: what is at fault, which goes to the model only; '' for nothing. */
export type DraftVerdict = { readonly text: string } | { readonly fault: string; readonly named: string };

/** Accepts or rejects a model's draft. An accepted one has lost what redaction finds in it. */
export function judgeDraft(data: DraftData, answer: string): DraftVerdict {
  const text = unfenced(plain(answer).replaceAll(/\r\n?/gu, '\n'));
  const questions = [...data.asked.flatMap(({ questions: texts }) => texts), ...data.assistantSays].join(
    '\n',
  );
  const own = text.replaceAll(OPEN_PLACE, '');
  const numbers = foreignNumbers(text, JSON.stringify(data)).slice(0, NAMED_NUMBERS).join(', ');
  const fault =
    formFault(text) ??
    (own === text ? `it never says ${OPEN_PLACE}, so it tells answers that nobody gave` : null) ??
    (numbers === '' ? null : 'it states numbers that no request has') ??
    languageFault(own.replaceAll(HIDDEN, ''), questions);
  return fault === null ? { text: redact(text) } : { fault, named: numbers };
}

/** Removes the fence that models put around Markdown. */
function unfenced(text: string): string {
  const lines = text.split('\n');
  const isFenced = lines.length > 2 && /^```\w*$/u.test(lines[0] ?? '') && lines.at(-1)?.trim() === '```';
  return isFenced ? lines.slice(1, -1).join('\n').trim() : text;
}

function formFault(text: string): string | null {
  if (text.length < LEAST_LENGTH || !/\p{L}/u.test(text)) return 'it says nothing';
  if (text.length > MOST_LENGTH) return `it has more than ${MOST_LENGTH} characters`;
  if (UNPLAIN.test(text.replaceAll(/[\n\t]/gu, ' '))) return 'it holds characters that cannot be seen';
  // Whoever pastes the draft must not paste a link or an image that a stranger's text made the model write.
  return /[a-z]:\/\/|www\.|mailto:|\]\(|\]:|<[a-z!/?]/iu.test(text) ? 'it holds a link or HTML' : null;
}

/** Returns the numbers that the source lacks, each once. Numbers of lists and headings are no facts. */
function foreignNumbers(text: string, source: string): string[] {
  const known = new Set(source.match(/\p{N}+/gu));
  const lines = text.split('\n').map((line) => line.replace(/^[\s#>*_-]{0,20}\d{1,2}[.)]/u, ''));
  const numbers = lines.flatMap((line) => line.match(/\p{N}+/gu) ?? []);
  return [...new Set(numbers)].filter((number) => !known.has(number));
}
