/**
 * Reads `lexicon/<language>/texts.json`: the phrases of each language for titles and summaries, as data.
 *
 * Test: test/reader/document/text-lexicon.test.ts.
 */
import { z } from 'zod';
import { SESSION_OUTCOMES, type SessionOutcome } from '../../domain/session-outcomes.ts';
import { LEXICON_DIRECTORY } from './lexicon.ts';
import { languageFiles, listOf, readLexiconFile } from './lexicon-file.ts';

/** Words with single spaces; `-` ends a prefix, `…` stands for up to four words. */
const PHRASE = /^(?:[\p{L}\p{M}\p{N}'.\u200c-]+|…)(?: (?:[\p{L}\p{M}\p{N}'.\u200c-]+|…))*$/u;

/** Schema of phrases: lower case, no duplicates, sorted by code point. */
const phrases = listOf((list, tell) => {
  list.forEach((phrase, place) => {
    const before = list[place - 1];
    if (!PHRASE.test(phrase)) tell(place, `"${phrase}" holds more than words, - and …`);
    if (phrase !== phrase.toLowerCase() || (before !== undefined && before >= phrase))
      tell(place, `"${phrase}" is not in lower case, stands twice or is not sorted`);
  });
});

const sections = {
  /** Greetings; cut from the front, with the name of the person greeted. */
  greetings: phrases,
  /** Please, thanks; cut from both ends. */
  courtesies: phrases,
  /** "so", "ok"; cut from the front. Never a "no" in any language. */
  leads: phrases,
  /** "great, …"; cut from both ends where a comma or the like separates them. */
  asides: phrases,
  /** Sounds of hesitation ("uh"); cut anywhere. */
  hesitations: phrases,
  /** Phrases before the user's name: "my name is". */
  introductions: phrases,
  /** "I would like to"; cut from the front of a title, because the rest stands alone. */
  openings: phrases,
  /** Further openings; cut from a title that is too long. */
  longOpenings: phrases,
  /** Beginnings of a question that asks to act: "can you". */
  directives: phrases,
  /** Words of an opening that asks for information: "know". */
  inquiries: phrases,
  /** Beginnings of a question without a mark. */
  questionWords: phrases,
  /** Words at the start of a sentence that add a further matter: "also". */
  additions: phrases,
  /** Words that refer to something said before. A sentence with one cannot stand for a whole conversation. */
  references: phrases,
  /** Words that cannot open a title; an opening before one stays. */
  weakStarts: phrases,
  /** Words that cannot end a cut text: articles, prepositions, auxiliaries, "not". */
  weakEnds: phrases,
  /** Phrases of a user who asks for an alternative to a proposal: "any others". */
  alternatives: phrases,
  /** Phrases of a user who rejects a proposal or an understanding: "too expensive". */
  rejections: phrases,
  negations: phrases,
  /** Beginnings of a contrasting clause; the clause before it does not stand alone. */
  contrasts: phrases,
  /** Beginnings of a clause of reason or circumstance; the clause before it stands alone. */
  reasons: phrases,
  /** Beginnings of a clause that does not stand alone. */
  subordinates: phrases,
  /** Beginnings of an answer to a question: yes, no. */
  replies: phrases,
  /** Phrases of an assistant without content: "happy to help". */
  pleasantries: phrases,
  /** Phrases with which an assistant announces its next act: "let me check". */
  promises: phrases,
  /** Phrases with which an assistant asks for data, without a question mark: "please provide". */
  asksBack: phrases,
  /** Beginnings of a sentence that says what something is needed for: "to". */
  purposes: phrases,
  /** Phrases with which an assistant proposes something: "how about". */
  proposals: phrases,
  /** Phrases with which an assistant asks to confirm what it is about to do: "is that correct". */
  recaps: phrases,
  /** Phrases with which an assistant reports that something is done. */
  completions: phrases,
  /** Phrases with which an assistant says that something is impossible. */
  refusals: phrases,
  /** Phrases with which an assistant says that people take over. */
  handovers: phrases,
  /** Words before a handover that make it an offer: "I can transfer you". */
  offers: phrases,
  /** Abbreviations; their dot ends no sentence. */
  abbreviations: phrases,
  /** Nouns after an ordinal number with a dot: "3. Mai". */
  ordinalNouns: phrases,
  /** Words before an ordinal number with a dot: "am 3. …". */
  ordinalLeads: phrases,
};

const languageSchema = z.strictObject({
  /** Name of the language in English, for people. */
  name: z.string().min(1),
  /** True if spaces separate words, so that a phrase is whole words. */
  spaced: z.boolean(),
  ...sections,
  /** The phrase for further requests in a summary; `{count}` stands for their number. */
  further: z.string().regex(/\{count\}/u),
  /** Closing phrases of a summary, by outcome. */
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

/** Loads the languages of a directory, by code. Throws SetupError, naming file and place, if a file is faulty. */
export function loadTextLanguages(directory = LEXICON_DIRECTORY): ReadonlyMap<string, TextLanguage> {
  return new Map(
    languageFiles(directory, 'texts').map(({ language, path }) => [
      language,
      readLexiconFile(path, languageSchema),
    ]),
  );
}

/** The shipped languages. */
export const TEXT_LANGUAGES: ReadonlyMap<string, TextLanguage> = loadTextLanguages();
