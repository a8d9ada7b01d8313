/**
 * Reads `lexicon/<language>/texts.json`: what titles and summaries know of each language, as data. Covered by
 * test/reader/document/text-lexicon.test.ts.
 */
import { z } from 'zod';
import { SESSION_OUTCOMES, type SessionOutcome } from '../../domain/session-outcomes.ts';
import { LEXICON_DIRECTORY } from './lexicon.ts';
import { languageFiles, listOf, readLexiconFile } from './lexicon-file.ts';

/** Words with single spaces; `*` ends a word that may go on, `…` stands for up to four words. */
const PHRASE = /^(?:[\p{L}\p{M}\p{N}'.\u200c-]+\*?|…)(?: (?:[\p{L}\p{M}\p{N}'.\u200c-]+\*?|…))*$/u;

/** Phrases in lower case, each once, sorted by code point. */
const phrases = listOf((list, tell) => {
  list.forEach((phrase, place) => {
    const before = list[place - 1];
    if (!PHRASE.test(phrase)) tell(place, `"${phrase}" holds more than words, * and …`);
    if (phrase !== phrase.toLowerCase() || (before !== undefined && before >= phrase))
      tell(place, `"${phrase}" is not in lower case, stands twice or is not sorted`);
  });
});

const sections = {
  /** Cut from the front, with the name of the person greeted. */
  greetings: phrases,
  /** Cut from both ends: please, thanks. */
  courtesies: phrases,
  /** Cut from the front: "so", "ok". Never a "no" in any language. */
  leads: phrases,
  /** Cut from both ends where a comma or the like parts them from the rest: "great, …". */
  asides: phrases,
  /** Sounds of one who looks for words, cut wherever they stand: "uh". */
  hesitations: phrases,
  /** What precedes the name of the user: "my name is". */
  introductions: phrases,
  /** Cut from the front of a title, as what follows stands by itself: "I would like to". */
  openings: phrases,
  /** Further ones, of a title that is too long. */
  longOpenings: phrases,
  /** Begin a question that asks to act: "can you". */
  directives: phrases,
  /** Words of an opening that asks to be told something: "know". */
  inquiries: phrases,
  /** Begin a question that has no mark. */
  questionWords: phrases,
  /** Say at the start of a sentence that it brings up something else: "also". */
  additions: phrases,
  /** Words that stand for what was said before: a sentence with one does not stand for a whole conversation. */
  references: phrases,
  /** What cannot open a title: an opening before it stays. */
  weakStarts: phrases,
  /** Words that what is cut cannot end with: articles, prepositions, auxiliaries, "not". */
  weakEnds: phrases,
  /** A user asks for another one than what was proposed: "any others". */
  alternatives: phrases,
  /** A user says that what was proposed or understood is not it: "too expensive". */
  rejections: phrases,
  negations: phrases,
  /** Begin a clause that says otherwise: what is before it does not stand alone. */
  contrasts: phrases,
  /** Begin a clause that gives a reason or a circumstance: what is before it stands alone. */
  reasons: phrases,
  /** Begin a clause that does not stand alone. */
  subordinates: phrases,
  /** Begin an answer to a question: yes, no. */
  replies: phrases,
  /** What an assistant says without content: "happy to help". */
  pleasantries: phrases,
  /** An assistant says what it is about to do: "let me check". */
  promises: phrases,
  /** An assistant asks for what it needs, without a question mark: "please provide". */
  asksBack: phrases,
  /** Begin a sentence that says what something is needed for: "to". */
  purposes: phrases,
  /** An assistant asks whether this may be it: "how about". */
  proposals: phrases,
  /** An assistant says what it is about to do, to have it confirmed: "is that correct". */
  recaps: phrases,
  /** An assistant reports that something is done. */
  completions: phrases,
  /** An assistant says that something is not possible. */
  refusals: phrases,
  /** An assistant says that people take over. */
  handovers: phrases,
  /** Before a handover these make it an offer: "I can transfer you". */
  offers: phrases,
  /** Their dot ends no sentence. */
  abbreviations: phrases,
  /** Nouns after an ordinal number with a dot: "3. Mai". */
  ordinalNouns: phrases,
  /** Words before one: "am 3. …". */
  ordinalLeads: phrases,
};

const languageSchema = z.strictObject({
  /** In English, for readers. */
  name: z.string().min(1),
  /** Spaces stand between words, and a phrase is whole words. */
  spaced: z.boolean(),
  ...sections,
  /** Says how many requests a summary does not tell: `{count}` stands for the number. */
  further: z.string().regex(/\{count\}/u),
  /** The closing sentence of a summary. */
  endings: z.strictObject(
    Object.fromEntries(SESSION_OUTCOMES.map((name) => [name, z.string().min(1)])) as Record<
      SessionOutcome,
      z.ZodString
    >,
  ),
});

export type TextLanguage = z.infer<typeof languageSchema>;
export type TextSection = keyof typeof sections;
export const TEXT_SECTIONS = Object.keys(sections) as readonly TextSection[];

/** The languages of a directory, by code. Throws SetupError, naming file and place, when a file cannot be used. */
export function loadTextLanguages(directory = LEXICON_DIRECTORY): ReadonlyMap<string, TextLanguage> {
  return new Map(
    languageFiles(directory, 'texts').map(({ language, path }) => [
      language,
      readLexiconFile(path, languageSchema),
    ]),
  );
}

/** The files that ship. */
export const TEXT_LANGUAGES: ReadonlyMap<string, TextLanguage> = loadTextLanguages();
