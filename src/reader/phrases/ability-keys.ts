/**
 * What an ability is about, the same in all languages: what is done ("change"), and with what ("address"). The phrases
 * are in `lexicon/<language>/abilities.json`. Covered by test/reader/document/ability-keys.test.ts.
 */
import type { GapType } from '../../domain/facts.ts';
import { ABILITY_KINDS, type AbilityKind } from '../document/ability-kinds.ts';
import { LANGUAGES } from '../document/lexicon.ts';
import { once } from '../document/once.ts';
import { loadPhraseFiles } from './phrase-files.ts';
import { PhraseMatcher, type Match } from './phrase-matcher.ts';
import { requestParts } from '../document/request-parts.ts';

/** `null`: the words do not say. */
export interface AbilityKeys {
  /** What is done. */
  readonly act: string | null;
  /** With what. */
  readonly thing: string | null;
  /** The request alone says it: the assistant may mean another. */
  readonly isActAsked?: boolean;
  readonly isThingAsked?: boolean;
  /** What else is named: by the assistant, and by the request alone. */
  readonly others?: OtherKeys;
}

/** Acts, things of the list, and `~` things that the list does not hold. */
export interface OtherKeys {
  readonly acts: readonly string[];
  readonly said: readonly string[];
  readonly asked: readonly string[];
}

const abilityMatcher = once(
  () => new PhraseMatcher(loadPhraseFiles({ purpose: 'abilities', kinds: ABILITY_KINDS, checked: false })),
);

/** A missing ability as it is said, and the request that it was missing for. */
export interface SaidAbility {
  readonly type: GapType;
  /** Of the assistant; '' when it names nothing. */
  readonly words: string;
  /** The phrase that says so, where it may hold the verb. */
  readonly claim?: string;
  /** It cannot see `words`, whatever is to be done with it. */
  readonly isUnseen: boolean;
  readonly request: string;
  /** Of `words`: ISO 639-1; null when it is not known. */
  readonly language: string | null;
}

/** Things that say little: what the request names tells more. */
export const GENERAL_THINGS: ReadonlySet<string> = new Set([
  'account',
  'availability',
  'booking',
  'date',
  'document',
  'payment',
  'price',
  'web',
]);
/** What people buy, wear and go to: in a request it says what an order holds, not what is to be done with it. */
const GOODS: ReadonlySet<string> = new Set([
  'baggage',
  'breakfast',
  'childcare',
  'colour',
  'course',
  'device',
  'event',
  'game',
  'menu',
  'news',
  'pet',
  'print',
  'seat',
  'size',
  'sport',
  'vehicle',
]);
/** What is done with a refund, a payment back or a credit is one: to refund. */
const REFUNDING: ReadonlySet<string | null> = new Set([
  null,
  'issue',
  'make',
  'pay',
  'run',
  'send',
  'submit',
]);

/** The keys of an ability: from the words of the assistant, and what they do not say from the request. */
export function abilityKeysOf(ability: SaidAbility): SaidKeys {
  const { words, claim = '', request, language } = ability;
  const object = keysIn(words, language);
  const said = { ...object, act: object.act ?? keysIn(claim, language).act };
  const askedInOne = keysIn(request, language);
  const asked = askedInOne.acts.length + askedInOne.things.length > 0 ? askedInOne : keysIn(request, null);
  const main = mainKeysOf(ability, said, asked);
  const { act, thing } = main;
  const named = words === '' ? [] : requestParts(words, language).thing.map((key) => `~${key}`);
  const things = [...new Set([...said.things, ...named])].filter((one) => one !== thing);
  const acts = main.isActAsked === true || ability.type === 'KNOWLEDGE' ? [] : said.acts;
  return {
    ...main,
    others: {
      acts: act === 'refund' ? [] : acts.filter((one) => one !== act),
      said: things,
      asked: asked.things.filter((one) => one !== thing && !things.includes(one)),
    },
  };
}

function mainKeysOf(
  { type, words, isUnseen, request }: SaidAbility,
  said: KeysInText,
  asked: KeysInText,
): SaidKeys {
  const listed = thingOf(said.thing, asked.thing);
  const thing = listed ?? thingIn(words);
  const isThingAsked = listed !== null && listed !== said.thing;
  const isWhole = said.thing !== null && (said.act !== null || isUnseen || type === 'KNOWLEDGE');
  if (type === 'KNOWLEDGE')
    return {
      act: null,
      thing: thing ?? thingIn(request),
      isThingAsked: thing === null || isThingAsked,
      isWhole,
    };
  const isSeen = isUnseen && (said.act === null || said.act === 'refund');
  const act = isSeen ? 'view' : (said.act ?? asked.act);
  if (act === 'refund' || (thing === 'refund' && REFUNDING.has(act)))
    return { act: 'refund', thing: 'refund', isWhole };
  const isActAsked = !isSeen && said.act === null && act !== null;
  if (act === 'call' && !isActAsked && (thing === null || thing === 'phone' || isThingAsked))
    return { act, thing: 'call', isWhole };
  // What is to be done with a delivery is done with the order; only when it comes is a matter of its own.
  return { act, thing: thing === 'delivery' ? 'order' : thing, isActAsked, isThingAsked, isWhole };
}

/** Keys, and whether the words of the assistant alone say both. */
export interface SaidKeys extends AbilityKeys {
  readonly isWhole: boolean;
}

function thingOf(said: string | null, asked: string | null): string | null {
  if (said === null) return asked;
  return GENERAL_THINGS.has(said) && asked !== null && !GENERAL_THINGS.has(asked) && !GOODS.has(asked)
    ? asked
    : said;
}

/** All that a text names, by first mention. */
interface KeysInText extends AbilityKeys {
  readonly acts: readonly string[];
  readonly things: readonly string[];
}

/**
 * The first act (the last one where verbs stand last), and the first thing of the list. A refund is an act where
 * nothing else is done with it.
 */
function keysIn(text: string, language: string | null): KeysInText {
  const matches = (text === '' ? [] : abilityMatcher().match(text, language ?? '').matches).toSorted(
    (a, b) => a.start - b.start || b.end - a.end,
  );
  const found = matches.filter((match) => !isWithinThing(match, matches));
  const things = uniqueKeys(found.filter(isThing));
  // "File a complaint" files it: of several things, one that is said as an act does not count.
  const sure = uniqueKeys(found.filter((match) => isThing(match) && !isAct(match, found)));
  const acts = uniqueKeys(found.filter((match) => !isThing(match)));
  const isVerbFinal = language !== null && (LANGUAGES.get(language)?.verbFinal ?? false);
  const done = acts.filter((act) => act !== 'refund');
  const act = (isVerbFinal ? done.at(-1) : done[0]) ?? acts[0] ?? null;
  const counted = sure.length > 0 ? sure : things;
  const thing = counted.toSorted((a, b) => PLACES.get(a)! - PLACES.get(b)!)[0] ?? null;
  return { act, thing, acts, things: counted };
}

const PLACES: ReadonlyMap<string, number> = new Map(ABILITY_KINDS.map((kind, at) => [keyOf(kind), at]));

function keyOf(kind: AbilityKind): string {
  return kind.slice(kind.indexOf('-') + 1);
}

function uniqueKeys(matches: readonly Match<AbilityKind>[]): string[] {
  return [...new Set(matches.map(({ kind }) => keyOf(kind)))];
}

function isThing({ kind }: Match<AbilityKind>): boolean {
  return kind.startsWith('of-');
}

/** Whether the words of a thing are an act, too. */
function isAct({ start, end }: Match<AbilityKind>, matches: readonly Match<AbilityKind>[]): boolean {
  return matches.some((act) => !isThing(act) && act.start === start && act.end === end);
}

/** "Bestellung" orders nothing; of 订单 "order", 订 does not book; "public holiday" is no holiday to be taken. */
function isWithinThing(match: Match<AbilityKind>, matches: readonly Match<AbilityKind>[]): boolean {
  const { kind, phrase, start, end } = match;
  return matches.some((thing) => {
    if (!isThing(thing) || thing.start > start || thing.end < end) return false;
    if (thing.end - thing.start > end - start) return true;
    return !isThing(match) && (keyOf(thing.kind) === keyOf(kind) || thing.phrase.length > phrase.length);
  });
}

/** A thing that the list does not hold, as requests name it. */
function thingIn(text: string): string | null {
  const [thing] = text === '' ? [] : requestParts(text).thing;
  return thing === undefined ? null : `~${thing}`;
}

/** What stands around a thing that one has no access to, in a language; in English where the language has none. */
export function accessPhrases(language: string | null): { readonly before: string; readonly after: string } {
  return ACCESS[language ?? 'en'] ?? ACCESS['en']!;
}

const ACCESS: Readonly<Record<string, { readonly before: string; readonly after: string }>> = {
  ar: { before: 'الوصول إلى ', after: '' },
  de: { before: 'Zugriff auf ', after: '' },
  en: { before: 'access ', after: '' },
  es: { before: 'acceso a ', after: '' },
  fa: { before: 'دسترسی به ', after: '' },
  fr: { before: 'accès ', after: '' },
  hi: { before: '', after: ' तक पहुँच' },
  it: { before: 'accesso a ', after: '' },
  ja: { before: '', after: 'へのアクセス' },
  ko: { before: '', after: ' 조회' },
  nl: { before: 'toegang tot ', after: '' },
  pl: { before: 'dostęp do ', after: '' },
  pt: { before: 'acesso a ', after: '' },
  ru: { before: 'доступ к ', after: '' },
  tr: { before: '', after: ' görüntüleme' },
  zh: { before: '访问', after: '' },
};
