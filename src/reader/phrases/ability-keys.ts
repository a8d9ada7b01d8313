/**
 * The keys of an ability, equal in all languages: the act ("change") and the thing ("address"). The phrases are in
 * `lexicon/<language>/abilities.json`.
 *
 * Test: test/reader/phrases/ability-keys.test.ts.
 */
import type { GapType } from '../../domain/facts.ts';
import { ABILITY_KINDS, type AbilityKind } from '../document/ability-kinds.ts';
import { LANGUAGES } from '../document/lexicon.ts';
import { once } from '../document/once.ts';
import { loadPhraseFiles } from './phrase-files.ts';
import { PhraseMatcher, type Match } from './phrase-matcher.ts';
import { requestParts } from '../document/request-parts.ts';

/** An act and a thing; null if the words do not say it. */
export interface AbilityKeys {
  /** The act: what is to be done. */
  readonly act: string | null;
  /** The thing that it is done with. */
  readonly thing: string | null;
  /** True if only the request names it, so the assistant may mean another. */
  readonly isActAsked?: boolean;
  readonly isThingAsked?: boolean;
  /** Further keys, named by the assistant (`acts`, `stated`) or by the request alone (`asked`). */
  readonly others?: OtherKeys;
}

/** Acts and things of the list; `~` marks things that the list lacks. */
export interface OtherKeys {
  readonly acts: readonly string[];
  readonly stated: readonly string[];
  readonly asked: readonly string[];
}

const abilityMatcher = once(
  () => new PhraseMatcher(loadPhraseFiles({ purpose: 'abilities', kinds: ABILITY_KINDS, checked: false })),
);

/** A missing ability in words, and the request that it was missing for. */
export interface StatedAbility {
  readonly type: GapType;
  /** The assistant's words; '' if it names nothing. */
  readonly words: string;
  /** The phrase of the claim, which may hold the verb. */
  readonly claim?: string;
  /** True if the assistant cannot see `words`, whatever should be done with it. */
  readonly isUnseen: boolean;
  readonly request: string;
  /** Language of `words`, ISO 639-1; null if it is unknown. */
  readonly language: string | null;
}

/** Things that say little; a thing in the request says more. */
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
/**
 * Goods, which people buy, wear and go to. In a request they say what an order holds, not what should be done with it.
 */
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
/** Acts on a refund, a returned payment or a credit that all mean: to refund. */
const REFUNDING: ReadonlySet<string | null> = new Set([
  null,
  'issue',
  'make',
  'pay',
  'run',
  'send',
  'submit',
]);

/** Returns the keys of an ability, from the assistant's words, and from the request where those are silent. */
export function abilityKeysOf(ability: StatedAbility): StatedKeys {
  const { words, claim = '', request, language } = ability;
  const object = keysIn(words, language);
  const stated = { ...object, act: object.act ?? keysIn(claim, language).act };
  const askedInOne = keysIn(request, language);
  const asked = askedInOne.acts.length + askedInOne.things.length > 0 ? askedInOne : keysIn(request, null);
  const main = mainKeysOf(ability, stated, asked);
  const { act, thing } = main;
  const named = words === '' ? [] : requestParts(words, language).thing.map((key) => `~${key}`);
  const things = [...new Set([...stated.things, ...named])].filter((one) => one !== thing);
  const acts = main.isActAsked === true || ability.type === 'KNOWLEDGE' ? [] : stated.acts;
  return {
    ...main,
    others: {
      acts: act === 'refund' ? [] : acts.filter((one) => one !== act),
      stated: things,
      asked: asked.things.filter((one) => one !== thing && !things.includes(one)),
    },
  };
}

function mainKeysOf(
  { type, words, isUnseen, request }: StatedAbility,
  stated: KeysInText,
  asked: KeysInText,
): StatedKeys {
  const listed = thingOf(stated.thing, asked.thing);
  const thing = listed ?? thingIn(words);
  const isThingAsked = listed !== null && listed !== stated.thing;
  const isWhole = stated.thing !== null && (stated.act !== null || isUnseen || type === 'KNOWLEDGE');
  if (type === 'KNOWLEDGE')
    return {
      act: null,
      thing: thing ?? thingIn(request),
      isThingAsked: thing === null || isThingAsked,
      isWhole,
    };
  const isSeen = isUnseen && (stated.act === null || stated.act === 'refund');
  const act = isSeen ? 'view' : (stated.act ?? asked.act);
  if (act === 'refund' || (thing === 'refund' && REFUNDING.has(act)))
    return { act: 'refund', thing: 'refund', isWhole };
  const isActAsked = !isSeen && stated.act === null && act !== null;
  if (act === 'call' && !isActAsked && (thing === null || thing === 'phone' || isThingAsked))
    return { act, thing: 'call', isWhole };
  // An act on a delivery is one on the order; only the time of a delivery is a matter of its own.
  return { act, thing: thing === 'delivery' ? 'order' : thing, isActAsked, isThingAsked, isWhole };
}

/** Keys, and whether the assistant's words alone give both. */
export interface StatedKeys extends AbilityKeys {
  readonly isWhole: boolean;
}

function thingOf(stated: string | null, asked: string | null): string | null {
  if (stated === null) return asked;
  return GENERAL_THINGS.has(stated) && asked !== null && !GENERAL_THINGS.has(asked) && !GOODS.has(asked)
    ? asked
    : stated;
}

/** All keys of a text, by first mention. */
interface KeysInText extends AbilityKeys {
  readonly acts: readonly string[];
  readonly things: readonly string[];
}

/**
 * Reads the first act (the last one in a verb-final language) and the first thing of the list. "Refund" counts as an
 * act only if there is no other.
 */
function keysIn(text: string, language: string | null): KeysInText {
  const matches = (text === '' ? [] : abilityMatcher().match(text, language ?? '').matches).toSorted(
    (a, b) => a.start - b.start || b.end - a.end,
  );
  const found = outsideThings(matches);
  const things = uniqueKeys(found.filter(isThing));
  // "File a complaint" files it: among several things, one that is also an act does not count.
  const spansOfActs = new Set(found.filter((match) => !isThing(match)).map(spanOf));
  const sure = uniqueKeys(found.filter((match) => isThing(match) && !spansOfActs.has(spanOf(match))));
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

/** The place of a match, as a key. */
function spanOf({ start, end }: Match<AbilityKind>): number {
  return start * 2 ** 24 + end;
}

/** Drops the matches inside a longer thing. `matches`: by start, the longest first. Takes linear time. */
function outsideThings(matches: readonly Match<AbilityKind>[]): Match<AbilityKind>[] {
  /** The things that begin at or before the match at hand, and do not end before it. */
  let open: Match<AbilityKind>[] = [];
  let ahead = 0;
  return matches.filter((match) => {
    for (; ahead < matches.length && matches[ahead]!.start <= match.start; ahead += 1)
      if (isThing(matches[ahead]!)) open.push(matches[ahead]!);
    open = open.filter(({ end }) => end > match.start);
    return !isWithinThing(match, open);
  });
}

/**
 * True for a key inside a longer thing: "Bestellung" orders nothing; 订 in 订单 ("order") books nothing; "public holiday"
 * is no leave.
 */
function isWithinThing(match: Match<AbilityKind>, things: readonly Match<AbilityKind>[]): boolean {
  const { kind, phrase, start, end } = match;
  return things.some((thing) => {
    if (thing.start > start || thing.end < end) return false;
    if (thing.end - thing.start > end - start) return true;
    return !isThing(match) && (keyOf(thing.kind) === keyOf(kind) || thing.phrase.length > phrase.length);
  });
}

/** A thing that the list lacks, as `requestParts` names it. */
function thingIn(text: string): string | null {
  const [thing] = text === '' ? [] : requestParts(text).thing;
  return thing === undefined ? null : `~${thing}`;
}

/** The words around an inaccessible thing in a language; English if the language has none. */
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
