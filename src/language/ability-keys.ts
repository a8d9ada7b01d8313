/**
 * What an ability is about, the same in all languages: what is done ("change"), and with what ("address"). The phrases
 * are in `lexicon/<language>.abilities.json`. Covered by test/language/ability-keys.test.ts.
 */
import type { GapType } from '../domain/facts.ts';
import { once } from './once.ts';
import { loadPhraseFiles } from './phrases/phrase-files.ts';
import { PhraseMatcher, type Match } from './phrases/phrase-matcher.ts';
import { requestParts } from './request-parts.ts';

/** Acts in no order; of several things the first of this list counts: "the e-mail about my order" is an e-mail. */
export const ABILITY_KINDS = [
  'act-change',
  'act-send',
  'act-view',
  'act-make',
  'act-book',
  'act-cancel',
  'act-pay',
  'act-refund',
  'act-delete',
  'act-call',
  'act-run',
  'act-submit',
  'act-remind',
  'act-order',
  'act-renew',
  'act-pause',
  'act-block',
  'act-unlock',
  'act-play',
  'act-translate',
  'act-issue',
  'of-restock',
  'of-allergen',
  'of-weather',
  'of-shares',
  'of-warranty',
  'of-nutrition',
  'of-compatibility',
  'of-origin',
  'of-release',
  'of-waiting',
  'of-competitor',
  'of-battery',
  'of-charging',
  'of-waterproof',
  'of-noise',
  'of-energy',
  'of-material',
  'of-agelimit',
  'of-sideeffect',
  'of-scholarship',
  'of-creditscore',
  'of-pension',
  'of-roadmap',
  'of-security',
  'of-dresscode',
  'of-shippingcost',
  'of-recipe',
  'of-visa',
  'of-parking',
  'of-wifi',
  'of-interestrate',
  'of-fuel',
  'of-exchange',
  'of-traffic',
  'of-salary',
  'of-memory',
  'of-refund',
  'of-newsletter',
  'of-giftwrap',
  'of-socialmedia',
  'of-email',
  'of-sms',
  'of-image',
  'of-video',
  'of-audio',
  'of-voucher',
  'of-licencekey',
  'of-api',
  'of-log',
  'of-file',
  'of-code',
  'of-web',
  'of-bankdetails',
  'of-meetingroom',
  'of-callback',
  'of-fraud',
  'of-identity',
  'of-call',
  'of-leave',
  'of-calendar',
  'of-reminder',
  'of-password',
  'of-complaint',
  'of-review',
  'of-contact',
  'of-agent',
  'of-points',
  'of-prescription',
  'of-labresult',
  'of-staff',
  'of-grade',
  'of-loan',
  'of-tax',
  'of-permit',
  'of-signature',
  'of-user',
  'of-permission',
  'of-technician',
  'of-outage',
  'of-taxi',
  'of-sim',
  'of-limit',
  'of-care',
  'of-manual',
  'of-sparepart',
  'of-report',
  'of-address',
  'of-location',
  'of-delivery',
  'of-lostproperty',
  'of-housekeeping',
  'of-childcare',
  'of-lock',
  'of-phone',
  'of-invoice',
  'of-payment',
  'of-balance',
  'of-card',
  'of-plan',
  'of-breakfast',
  'of-menu',
  'of-pool',
  'of-accessibility',
  'of-application',
  'of-appointment',
  'of-personname',
  'of-checkin',
  'of-guest',
  'of-seat',
  'of-table',
  'of-room',
  'of-baggage',
  'of-timetable',
  'of-flight',
  'of-delayreason',
  'of-ticket',
  'of-return',
  'of-quantity',
  'of-aisle',
  'of-order',
  'of-account',
  'of-price',
  'of-holiday',
  'of-availability',
  'of-hours',
  'of-date',
  'of-distance',
  'of-waste',
  'of-update',
  'of-backup',
  'of-colour',
  'of-language',
  'of-vehicle',
  'of-meter',
  'of-document',
  'of-doctor',
  'of-claim',
  'of-coverage',
  'of-stock',
  'of-storelocation',
  'of-size',
  'of-pet',
  'of-event',
  'of-sport',
  'of-vacancy',
  'of-donation',
  'of-election',
  'of-course',
  'of-device',
  'of-print',
  'of-game',
  'of-news',
] as const;

export type AbilityKind = (typeof ABILITY_KINDS)[number];

/** `null`: the words do not say. */
export interface AbilityKeys {
  /** What is done. */
  readonly act: string | null;
  /** With what. */
  readonly thing: string | null;
  /** The request alone says it: the assistant may mean another. */
  readonly isActAsked?: boolean;
  readonly isThingAsked?: boolean;
}

const abilityMatcher = once(
  () => new PhraseMatcher(loadPhraseFiles({ purpose: 'abilities', kinds: ABILITY_KINDS, checked: false })),
);

/** A missing ability as it is said, and the request that it was missing for. */
export interface SaidAbility {
  readonly type: GapType;
  /** Of the assistant; '' when it names nothing. */
  readonly words: string;
  /** It cannot see `words`, whatever is to be done with it. */
  readonly isUnseen: boolean;
  readonly request: string;
  /** Of `words`: ISO 639-1; null when it is not known. */
  readonly language: string | null;
}

/** Things that say little: what the request names tells more. */
const GENERAL: ReadonlySet<string> = new Set(['account', 'date', 'document', 'payment', 'price', 'web']);
/** What people buy, wear and go to: in a request it says what an order holds, not what is to be done with it. */
const GOODS: ReadonlySet<string> = new Set([
  'baggage',
  'course',
  'device',
  'event',
  'game',
  'news',
  'pet',
  'print',
  'seat',
  'size',
  'sport',
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
export function abilityKeysOf({ type, words, isUnseen, request, language }: SaidAbility): SaidKeys {
  const said = keysIn(words, language);
  const asked = keysIn(request, null);
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
  return GENERAL.has(said) && asked !== null && !GENERAL.has(asked) && !GOODS.has(asked) ? asked : said;
}

/** The first act, and the first thing of the list. A refund is an act where nothing else is done with it. */
function keysIn(text: string, language: string | null): AbilityKeys {
  if (text === '') return { act: null, thing: null };
  const matches = abilityMatcher()
    .match(text)
    .matches.filter((match) => language === null || match.language === language)
    .toSorted((a, b) => a.start - b.start || b.end - a.end);
  let thing: AbilityKind | null = null;
  let act: AbilityKind | null = null;
  for (const match of matches) {
    const { kind } = match;
    if (kind.startsWith('act-')) {
      if ((act === null || act === 'act-refund') && !isPartOfThing(match, matches)) act = kind;
    } else if (thing === null || ABILITY_KINDS.indexOf(kind) < ABILITY_KINDS.indexOf(thing)) thing = kind;
  }
  return { act: act?.slice(4) ?? null, thing: thing?.slice(3) ?? null };
}

/** "Bestellung" orders nothing; of 订单 "order", 订 does not book. */
function isPartOfThing(
  { kind, start, end }: Match<AbilityKind>,
  matches: readonly Match<AbilityKind>[],
): boolean {
  return matches.some(
    (thing) =>
      thing.kind.startsWith('of-') &&
      thing.start <= start &&
      thing.end >= end &&
      (thing.end - thing.start > end - start || thing.kind.slice(3) === kind.slice(4)),
  );
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
