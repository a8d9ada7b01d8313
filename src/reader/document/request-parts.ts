/**
 * Reads the action of a request and its thing: "cancel order", "where is my parcel". Uses the lexicon, and no grammar
 * beyond word order.
 *
 * Test: test/reader/document/request-parts.test.ts.
 */
import { LANGUAGES, type ActionClass } from './lexicon.ts';
import type { Piece } from './phrase-meanings.ts';
import { languagesOfRequest } from './request-language.ts';
import { SpacedPhrases, tokensOf, withoutElision, type Token } from './spaced-phrases.ts';
import { thingIn } from './request-thing.ts';
import { stemOf } from './stem.ts';
import { UnspacedPhrases } from './unspaced-phrases.ts';

export type { ActionClass } from './lexicon.ts';

export interface RequestParts {
  /** The action that the user wants; null if the text names none that is known. */
  readonly action: ActionClass | null;
  /** The words of the action, as written: "cancel", "where is", "charged twice". Null if there is no action. */
  readonly verb: string | null;
  /**
   * The thing, head first: keys of `things` in the lexicon, equal in all languages, then stems of words that describe
   * it. [] if there is none.
   */
  readonly thing: readonly string[];
  /** The thing as written, without articles: "shipping address". '' if there is none. */
  readonly noun: string;
  /** ISO 639-1 code of the lexicon that read the request; null if no lexicon knows any of it. */
  readonly language: string | null;
}

/** The only language with a stemmer; the lexicon lists forms and stems of the others. */
const ENGLISH = 'en';
/** Longest part of a text that is read, UTF-16 units. */
const READ = 2000;
const NOTHING: RequestParts = { action: null, verb: null, thing: [], noun: '', language: null };

/** Actions of words that are also things; they count even after an article: "a refund", "the price". */
const ACTIONS_OF_NOUNS: ReadonlySet<ActionClass> = new Set(['refund', 'ask-price', 'document']);

/** Things of which a user needs a copy: "I need an invoice". */
const DOCUMENTS: ReadonlySet<string> = new Set([
  'account-statement',
  'contract',
  'document',
  'invoice',
  'report',
  'test-result',
]);

interface Reader {
  readonly verbFinal: boolean;
  readonly headFirst: boolean;
  readonly nounsAlone: boolean;
  readonly verbLeads: ReadonlySet<string>;
  readonly pastSigns: ReadonlySet<string>;
  readonly spaced: SpacedPhrases | null;
  readonly unspaced: UnspacedPhrases | null;
}

const READERS = new Map<string, Reader>();

/** The reader of a language; prepares its phrases on first use. */
function readerOf(code: string): Reader | null {
  const known = READERS.get(code);
  const language = LANGUAGES.get(code);
  if (known !== undefined || language === undefined) return known ?? null;
  const reader: Reader = {
    verbFinal: language.verbFinal,
    headFirst: language.headFirst,
    nounsAlone: code === ENGLISH,
    verbLeads: new Set(language.verbLeads),
    pastSigns: new Set(language.pastSigns),
    spaced: language.spaced ? new SpacedPhrases(language, code === ENGLISH ? stemOf : (word) => word) : null,
    unspaced: language.spaced ? null : new UnspacedPhrases(language),
  };
  READERS.set(code, reader);
  return reader;
}

/**
 * Returns the parts of a request. Without a language (ISO 639-1), or with one that has no lexicon, the words decide the
 * language. A request in a language without a lexicon has no parts.
 */
export function requestParts(request: string, language?: string | null): RequestParts {
  const text = request.length > READ ? request.slice(0, READ) : request;
  const tokens = tokensOf(text);
  const isKnown = language !== undefined && language !== null && LANGUAGES.has(language);
  const keys = tokens.map(({ key }) => key);
  const candidates = isKnown ? [language] : languagesOfRequest(text, keys);
  const reading = bestReading(text, tokens, candidates);
  if (reading === null) return NOTHING;
  const { pieces, reader, language: read } = reading;
  const { acting, isNoun } = actionIn(pieces, reader);
  const piece = acting === null ? null : pieces[acting]!;
  const thing = thingIn(pieces, acting, { ...reader, isNoun });
  const isNeeded = piece?.meaning.manner === 'hint' && piece.meaning.action === 'order';
  return {
    action: isNeeded && DOCUMENTS.has(thing.keys[0] ?? '') ? 'document' : (piece?.meaning.action ?? null),
    verb: piece?.text ?? null,
    thing: thing.keys,
    noun: withoutElision(thing.words.map(({ noun }) => noun).join(reader.spaced === null ? '' : ' ')),
    language: read,
  };
}

/** True if a request names both its action and a thing of the lexicon. */
export function namesActionAndThing(request: string): boolean {
  const { action, thing, language } = requestParts(request);
  const things = LANGUAGES.get(language ?? '')?.things ?? {};
  return action !== null && Object.hasOwn(things, thing[0] ?? '');
}

interface Reading {
  readonly language: string;
  readonly pieces: readonly Piece[];
  readonly reader: Reader;
}

/** Reads the request in the language whose lexicon covers most of it; the first of equals. */
function bestReading(text: string, tokens: readonly Token[], codes: readonly string[]): Reading | null {
  let best: Reading | null = null;
  let most = codes.length === 1 ? -1 : 0;
  for (const code of codes) {
    const reader = readerOf(code);
    if (reader === null) continue;
    const pieces = reader.spaced?.piecesOf(tokens) ?? reader.unspaced!.piecesOf(text);
    const held = tokens.length - pieces.filter(({ kind }) => kind === 'word').length;
    if (held > most) [best, most] = [{ language: code, pieces, reader }, held];
    if (held === tokens.length) break;
  }
  return best;
}

interface Acting {
  /** Index of the piece that names the action; null if there is none. */
  readonly acting: number | null;
  /** True if it may be a noun: "payment methods". */
  readonly isNoun: boolean;
}

/**
 * Finds the piece that names the action: the first sure one, else the first possible one, else a hint. A noun, and an
 * act that was only tried or done before, is merely possible.
 */
function actionIn(pieces: readonly Piece[], reader: Reader): Acting {
  let possible: number | null = null;
  let hint: number | null = null;
  for (const [at, { meaning }] of pieces.entries()) {
    if (meaning.action === null) continue;
    const certainty = certaintyOf(pieces, at, reader);
    if (certainty === 'sure') return { acting: at, isNoun: false };
    if (certainty === 'possible') possible ??= at;
    if (certainty === 'hint') hint ??= at;
  }
  return { acting: possible ?? hint, isNoun: possible !== null };
}

type Certainty = 'sure' | 'possible' | 'hint' | 'none';

function certaintyOf(pieces: readonly Piece[], at: number, reader: Reader): Certainty {
  const { meaning, text } = pieces[at]!;
  if (meaning.manner === 'hint') return isHint(pieces, at) ? 'hint' : 'none';
  if (meaning.action === 'apply') return 'hint';
  if (meaning.manner !== 'action') return 'sure';
  const before = pieces[at - 1];
  const lead = before?.text.toLowerCase() ?? '';
  const isLed = reader.verbLeads.has(lead);
  if (wasTried(pieces, at, reader) || (isLed && isPast(text, lead))) return 'possible';
  const isNamed = before?.kind === 'determiner' || (before?.kind === 'connector' && !isLed);
  if (isLed) return 'sure';
  if (meaning.thing === null) return isNamed && reader.verbLeads.size > 0 ? 'possible' : 'sure';
  if (!isNamed && reader.verbLeads.size > 0 && isImperative(pieces, at)) return 'sure';
  const opensWith = at === 0 && pieces[1]?.kind === 'connector';
  if (opensWith && ACTIONS_OF_NOUNS.has(meaning.action!)) return 'sure';
  return isNamed && !ACTIONS_OF_NOUNS.has(meaning.action!) ? 'none' : 'possible';
}

/** True for "I need two pizzas", which says what to order; false for "I need to pay" and "I need my money". */
function isHint(pieces: readonly Piece[], at: number): boolean {
  if (pieces[at]!.meaning.action !== 'order') return true;
  const next = pieces.slice(at + 1).find(({ kind }) => kind !== 'value');
  return next !== undefined && (next.kind === 'word' || next.meaning.thing !== null);
}

/** True for "I already paid", "I tried to pay". */
function wasTried(pieces: readonly Piece[], at: number, { pastSigns }: Reader): boolean {
  const [second, last] = [pieces[at - 2], pieces[at - 1]];
  if (last === undefined) return false;
  if (pastSigns.has(last.text.toLowerCase())) return true;
  const isPassed = last.kind === 'stop' || last.kind === 'connector';
  return isPassed && second !== undefined && pastSigns.has(second.text.toLowerCase());
}

/** English: "I cancelled" reports; "I want it cancelled" and "to be cancelled" ask. */
function isPast(verb: string, lead: string): boolean {
  return /ed$/i.test(verb) && lead !== 'to';
}

/** English: true if a verb opens the request or a clause and its object follows. */
function isImperative(pieces: readonly Piece[], at: number): boolean {
  const next = pieces[at + 1];
  const opens = at === 0 || pieces[at]!.afterBreak;
  if (next === undefined || next.afterBreak) return false;
  if (next.kind === 'determiner') return true;
  return opens && (next.kind === 'word' || next.kind === 'value' || next.meaning.thing !== null);
}
