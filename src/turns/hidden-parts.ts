/** What can be said of an answer in which something is hidden. */
import { HIDDEN } from '../text/redact/redact.ts';
import { contentCount, PhraseSet, shownWordsOf } from '../text/shown/phrase-set.ts';
import { endsSentence } from '../text/sentences.ts';
import { isUnspaced } from '../text/words.ts';

const WEAK_STARTS = PhraseSet.of('weakStarts');
/** Where a clause ends. */
const CLAUSE_MARK = /[,;，、；](?!\d)\s*|\s[–—-]\s/gu;
/** So much is left of a sentence, and half of it, when clauses go; so much stands beside each hidden value. */
const LEAST_LEFT = 2;
const LEAST_BESIDE = 6;
/** A number of an order or a request says what it is by its mark. */
const NUMBERED = /#\s?•••/gu;

interface Clause {
  readonly text: string;
  /** What parts it from the next one. */
  readonly mark: string;
}

/** A sentence without the clauses that hide something; '' when too little is left to say anything. */
export function withoutHidden(sentence: string): string {
  if (!sentence.includes(HIDDEN) || !sentence.replace(NUMBERED, '').includes(HIDDEN)) return sentence;
  const clauses: Clause[] = [];
  let start = 0;
  for (const { 0: mark, index } of sentence.matchAll(CLAUSE_MARK)) {
    clauses.push({ text: sentence.slice(start, index), mark });
    start = index + mark.length;
  }
  clauses.push({ text: sentence.slice(start), mark: '' });
  const left = joined(clauses, isUnspaced(sentence));
  const least = Math.max(LEAST_LEFT, contentCount(sentence) / 2);
  if (left !== '' && contentCount(left) >= least) return left;
  const hidden = sentence.split(HIDDEN).length - 1;
  return contentCount(sentence) >= LEAST_BESIDE * hidden ? sentence : '';
}

/** What is left of clauses without those that hide something. `isFree`: a clause stands without those before it. */
function joined(clauses: readonly Clause[], isFree: boolean): string {
  let left = '';
  let mark = '';
  let isCut = false;
  for (const [place, clause] of clauses.entries()) {
    if (!clause.text.includes(HIDDEN)) {
      if (isCut) return '';
      left += left === '' ? clause.text : `${mark}${clause.text}`;
      mark = clause.mark;
      continue;
    }
    // ", with order number …,": the sentence goes on without it, and of others only the end does.
    const [first] = shownWordsOf(clause.text, 1);
    if (place > 0 && first !== undefined && WEAK_STARTS.hasWord(first.key)) mark = ' ';
    else isCut = !isFree || left === '';
  }
  const text = left.trim();
  if (text === '' || endsSentence(text)) return text;
  return `${text}${isUnspaced(text) ? '。' : '.'}`;
}
