import { isUnspaced, wordsOf, type Word } from './words.ts';

/** A member's request and how much it counts. */
export interface Sample {
  readonly text: string;
  readonly weight: number;
}

/** How common words are in the instance: a name says what sets a group apart. */
export interface Background {
  /** Groups whose samples hold the stem. */
  readonly groupsWith: (stem: string) => number;
  readonly groups: number;
}

const LONGEST_NAME = 60;
const MOST_WORDS = 5;
/** A phrase that fewer of the members hold is no name while a single word is to be had. */
const LEAST_SHARE_OF_PHRASE = 0.08;
/** Pairs that one request adds to what is known of its group. */
const PAIRS_PER_REQUEST = 12;
/** Of a long request only the beginning is looked at. */
const WORDS_READ = 40;

/**
 * Openings that ask without saying what for. Cut again and again from the front, longest first, as long as
 * content is left.
 */
const POLITE_OPENINGS = [
  `hi there`,
  `hello there`,
  `good morning`,
  `good afternoon`,
  `good evening`,
  `hi`,
  `hello`,
  `hey`,
  `yes`,
  `yeah`,
  `ok`,
  `okay`,
  `please`,
  `so`,
  `well`,
  `and`,
  `but`,
  `also`,
  `now`,
  `oh`,
  `um`,
  `uh`,
  `can you`,
  `could you`,
  `would you`,
  `will you`,
  `can i`,
  `could i`,
  `may i`,
  `can we`,
  `would you mind`,
  `i want to`,
  `i want you to`,
  `i wanna`,
  `i would like to`,
  `i would like you to`,
  `i'd like to`,
  `i would like`,
  `i'd like`,
  `i like to`,
  `i need to`,
  `i need you to`,
  `i need some help with`,
  `i need help with`,
  `i need help`,
  `i need`,
  `i want`,
  `i have to`,
  `i'm trying to`,
  `i am trying to`,
  `i was wondering if`,
  `i'm wondering if`,
  `i was hoping to`,
  `i'm looking to`,
  `i'm looking for`,
  `i am looking for`,
  `i'm calling to`,
  `i'm calling about`,
  `how about`,
  `is it possible to`,
  `help me`,
  `help me to`,
  `help with`,
  `tell me`,
  `tell me about`,
  `tell me how to`,
  `show me`,
  `let me know`,
  `let me`,
  `give me`,
  `let's`,
  `explain`,
  `you to`,
  `me to`,
  `me the`,
  `go ahead and`,
  `a way to`,
  `if you can`,
  `if you could`,
  `you could`,
  `you can`,
  `again`,
  `i am looking to`,
  `i am looking forward to`,
  `i wish to`,
  `i think`,
  `i believe`,
  `it seems`,
  `ich möchte`,
  `ich würde gerne`,
  `ich will`,
  `ich brauche`,
  `kann ich`,
  `können sie`,
  `könnten sie`,
  `kannst du`,
  `bitte`,
  `hallo`,
  `guten tag`,
  `je voudrais`,
  `je veux`,
  `je souhaite`,
  `j'aimerais`,
  `pouvez-vous`,
  `pouvez vous`,
  `est-ce que je peux`,
  `bonjour`,
  `quiero`,
  `quisiera`,
  `me gustaría`,
  `necesito`,
  `puedo`,
  `puede`,
  `puedes`,
  `hola`,
  `por favor`,
  `eu quero`,
  `quero`,
  `gostaria de`,
  `preciso`,
  `posso`,
  `vorrei`,
  `voglio`,
  `ciao`,
  `ik wil`,
  `kan ik`,
];

/** Openings that say what kind of answer is wanted. */
const QUESTION_OPENINGS = [
  `do you`,
  `how do i`,
  `how do you`,
  `how can i`,
  `how can you`,
  `how would i`,
  `how should i`,
  `how to`,
  `what is`,
  `what's`,
  `what are`,
  `what do i need to do to`,
  `what do i do if`,
  `what should i do if`,
  `what if`,
  `what was`,
  `where can i`,
  `where do i`,
  `where is`,
  `when is`,
  `when will`,
  `why is`,
  `why was`,
  `why did`,
  `why does`,
  `why has`,
  `why are`,
  `who is`,
  `is there a way to`,
  `is there any way to`,
  `is there`,
  `are there`,
  `if i`,
  `wie kann ich`,
  `wie`,
  `comment puis-je`,
  `comment`,
  `cómo puedo`,
  `cómo`,
  `como posso`,
  `come posso`,
  `hoe kan ik`,
  `hoe`,
];

type Openings = ReadonlyMap<string, readonly (readonly string[])[]>;

/** Openings by their first word, the longest first. */
function byFirstWord(openings: readonly string[]): Openings {
  const split = openings.map((opening) => opening.split(' ')).sort((x, y) => y.length - x.length);
  return Map.groupBy(split, (opening) => opening[0]!);
}

const ALL_OPENINGS = byFirstWord([...POLITE_OPENINGS, ...QUESTION_OPENINGS]);
const ONLY_POLITE = byFirstWord(POLITE_OPENINGS);

/** The last request that was read: several want its words, one after the other. */
let lastCore: { readonly text: string; readonly words: readonly Word[] } = { text: '', words: [] };

/** The words of a request without what merely introduces it. */
export function coreWords(text: string): readonly Word[] {
  if (lastCore.text !== text) {
    lastCore = { text, words: trimmedEnd(withoutOpenings(wordsOf(text).slice(0, WORDS_READ), ALL_OPENINGS)) };
  }
  return lastCore.words;
}

/** As `coreWords`, but questions stay questions: "Where is my parcel", not "parcel". */
export function politeCore(text: string): readonly Word[] {
  return withoutOpenings(wordsOf(text).slice(0, WORDS_READ), ONLY_POLITE);
}

function withoutOpenings(all: readonly Word[], openings: Openings): readonly Word[] {
  let words = all;
  for (;;) {
    const first = words[0] === undefined ? '' : spoken(words[0]);
    const opening = openings.get(first)?.find((candidate) => startsWith(words, candidate));
    const rest = opening === undefined ? words : words.slice(opening.length);
    if (rest.length === words.length || !rest.some((word) => word.content)) return words;
    words = rest;
  }
}

function trimmedEnd(words: readonly Word[]): readonly Word[] {
  let end = words.length;
  while (end > 0 && !words[end - 1]!.content) end -= 1;
  return words.slice(0, end);
}

function spoken(word: Word): string {
  return word.text.toLowerCase().replaceAll('’', "'");
}

function startsWith(words: readonly Word[], opening: readonly string[]): boolean {
  return words.length >= opening.length && opening.every((part, index) => spoken(words[index]!) === part);
}

/** Stems of a request's content words, each once. */
export function contentStems(text: string): ReadonlySet<string> {
  return new Set(coreWords(text).flatMap(({ content, stem }) => (content ? [stem] : [])));
}

/** Share of the samples that hold each stem: `shares` where nothing else is known of the members. */
export function sharesIn(texts: readonly string[]): Map<string, number> {
  const shares = new Map<string, number>();
  for (const text of texts) {
    for (const stem of contentStems(text)) shares.set(stem, (shares.get(stem) ?? 0) + 1 / texts.length);
  }
  return shares;
}

/** How a pair of content words is used by members: the first form it was met in, and how often it was. */
export interface PairUse {
  /** Members that hold the two words near each other, in this order. */
  readonly count: number;
  /** Of these, members whose first content word is the pair's first. */
  readonly leading: number;
  /** The form that most of them use, as far as a running vote tells. */
  readonly surface: string;
  readonly votes: number;
}

/** Adds up two uses of one pair, the earlier first. */
export function togetherUsed(first: PairUse, second: PairUse): PairUse {
  const same = first.surface.toLowerCase() === second.surface.toLowerCase();
  const votes = same ? first.votes + second.votes : first.votes - second.votes;
  return {
    count: first.count + second.count,
    leading: first.leading + second.leading,
    surface: votes < 0 ? second.surface : first.surface,
    votes: Math.abs(votes),
  };
}

/** Pairs of content words of a request, by their two stems joined with a space. */
export function pairsOf(text: string): Map<string, PairUse> {
  const candidates = new Map<string, Candidate>();
  collect(coreWords(text), 1, candidates);
  const pairs = new Map<string, PairUse>();
  for (const [key, candidate] of candidates) {
    if (candidate.stems.length !== 2) continue;
    pairs.set(key, { count: 1, leading: candidate.leading, surface: surfaceOf(candidate), votes: 1 });
    if (pairs.size === PAIRS_PER_REQUEST) break;
  }
  return pairs;
}

interface Candidate {
  readonly stems: readonly string[];
  support: number;
  leading: number;
  tight: number;
  readonly surfaces: Map<string, number>;
}

/**
 * Names for a group, best first: phrases of two to five words that its members share and that set it
 * apart, after the rule of good intent labels. `shares` says which share of all members, not only of the
 * samples, holds a stem. At least one unless no sample has a word.
 */
export function namesOf(
  samples: readonly Sample[],
  background: Background,
  shares: ReadonlyMap<string, number>,
  kind: 'topic' | 'cluster' = 'topic',
  pairs: { readonly uses: ReadonlyMap<string, PairUse>; readonly members: number } | null = null,
): string[] {
  const read = samples.map((sample) => ({
    words: coreWords(sample.text),
    weight: sample.weight,
    text: sample.text,
  }));
  const total = read.reduce((sum, { weight }) => sum + weight, 0);
  const candidates = new Map<string, Candidate>();
  for (const { words, weight } of read) collect(words, weight, candidates);
  const holders = samplesByStem(read.map(({ words }) => words));
  for (const [key, { surface }] of pairs?.uses ?? []) {
    const known = candidates.get(key);
    const surfaces = new Map([[surface, 1]]);
    candidates.set(key, {
      stems: key.split(' '),
      support: 0,
      leading: 0,
      tight: known?.tight ?? 0,
      surfaces,
    });
  }
  const pairShare = (first: string, second: string): number => {
    const use = pairs?.uses.get(`${first} ${second}`);
    return pairs === null || use === undefined || use.count < 2 ? 0 : use.count / pairs.members;
  };
  const scored: Scored[] = [];
  for (const [key, candidate] of candidates) {
    const { stems } = candidate;
    let members = 0;
    for (const index of holdingAll(stems, holders)) {
      candidate.support += read[index]!.weight;
      members += 1;
    }
    const use = stems.length === 2 ? pairs?.uses.get(key) : undefined;
    if (members < 2 && read.length > 1 && (use?.count ?? 0) < 2) continue;
    let share = candidate.support / total;
    let leading = candidate.support === 0 ? 0 : candidate.leading / candidate.support;
    if (pairs !== null && stems.length === 1) share = shares.get(stems[0]!) ?? 0;
    if (pairs !== null && stems.length > 1) {
      const known = stems.slice(1).map((stem, index) => pairShare(stems[index]!, stem));
      share = stems.length === 2 ? known[0]! : Math.min(share, ...known);
      if (use !== undefined) leading = use.leading / use.count;
    }
    if (share === 0) continue;
    const tight = candidate.support === 0 ? 0 : candidate.tight / candidate.support;
    let weightOfWords = 0;
    for (const stem of stems) weightOfWords += (shares.get(stem) ?? 0) * rarityOf(stem, background);
    const score =
      share ** 0.2 *
      weightOfWords *
      (1 + 0.45 * leading) *
      (0.9 + 0.1 * tight) *
      (LENGTH_FACTORS[kind][stems.length] ?? 0);
    scored.push({ name: surfaceOf(candidate), score, key, phrase: stems.length > 1, share });
  }
  scored.sort((x, y) => y.score - x.score || (x.key < y.key ? -1 : 1));
  // A single word is a name only where no phrase stands for enough members; a phrase should hold the word
  // that tells most about them.
  if (kind === 'topic') {
    const telling = mostTelling(shares, background);
    const rankOf = ({ phrase, share, key }: Scored): number => {
      const holds = key.split(' ').includes(telling);
      if (phrase && share >= LEAST_SHARE_OF_PHRASE) return holds ? 0 : 1;
      if (holds) return phrase ? 3 : 2;
      return phrase ? 4 : 5;
    };
    scored.sort((x, y) => rankOf(x) - rankOf(y));
  }
  const names = scored.map(({ name }) => name).filter((name) => name !== '');
  if (names.length > 0) return names.slice(0, 12);
  const whole = read.map(({ words, text }) => phraseOf(words, text)).filter((name) => name !== '');
  return [...new Set(whole)].sort((x, y) => x.length - y.length || (x < y ? -1 : 1)).slice(0, 12);
}

/** For each stem the samples that hold it, ascending. */
function samplesByStem(samples: readonly (readonly Word[])[]): Map<string, number[]> {
  const holders = new Map<string, number[]>();
  for (const [index, words] of samples.entries()) {
    for (const { stem } of words) {
      const known = holders.get(stem);
      if (known === undefined) holders.set(stem, [index]);
      else if (known[known.length - 1] !== index) known.push(index);
    }
  }
  return holders;
}

/** The samples that hold all of some stems, ascending. */
function holdingAll(
  stems: readonly string[],
  holders: ReadonlyMap<string, readonly number[]>,
): readonly number[] {
  let all = holders.get(stems[0] ?? '') ?? [];
  for (const stem of stems.slice(1)) {
    const others = holders.get(stem) ?? [];
    let at = 0;
    all = all.filter((index) => {
      while (at < others.length && others[at]! < index) at += 1;
      return others[at] === index;
    });
  }
  return all;
}

interface Scored {
  readonly name: string;
  readonly score: number;
  readonly key: string;
  readonly phrase: boolean;
  readonly share: number;
}

/** How much a word sets its group apart: from little for what every group says to much for what one says. */
function rarityOf(stem: string, background: Background): number {
  return Math.log(1 + background.groups / Math.max(1, background.groupsWith(stem))) ** 0.25;
}

/** The stem that many members hold and few other groups; ties by code point. */
function mostTelling(shares: ReadonlyMap<string, number>, background: Background): string {
  let best = '';
  let most = -1;
  for (const [stem, share] of shares) {
    const weight = share * rarityOf(stem, background);
    if (weight < most || (weight === most && stem > best)) continue;
    best = stem;
    most = weight;
  }
  return best;
}

/** A short name for one request: its first five words from the first that tells something. '' when it has no word. */
export function phraseOf(words: readonly Word[], text: string): string {
  const kept: Word[] = [];
  const hasContent = words.some((word) => word.content);
  let content = 0;
  for (const word of words) {
    if (kept.length > 0 && word.afterBreak && content >= 2) break;
    if (word.determiner || (content === 0 && !word.content && hasContent)) continue;
    if (word.content) content += 1;
    kept.push(word);
    if (kept.length === MOST_WORDS) break;
  }
  while (kept.length > 1 && !kept[kept.length - 1]!.content) kept.pop();
  return finished(
    kept.map((word) => word.text),
    isUnspaced(text),
  );
}

/** A short name for one request as it was made. '' when it has no word. */
export function requestName(text: string): string {
  return phraseOf(coreWords(text), text);
}

/**
 * Notes what a request offers as a name: runs of up to seven words that begin and end with content, hold
 * one to four content words and otherwise only what ties them together; and pairs of content words near
 * each other, with the preposition before the second ("add … to playlist").
 */
function collect(words: readonly Word[], weight: number, candidates: Map<string, Candidate>): void {
  const seen = new Set<string>();
  const firstContent = words.findIndex((word) => word.content);
  const note = (stems: readonly string[], shown: readonly string[], start: number, loose: boolean): void => {
    const key = stems.join(' ');
    let candidate = candidates.get(key);
    if (candidate === undefined) {
      candidate = { stems: [...stems], support: 0, leading: 0, tight: 0, surfaces: new Map() };
      candidates.set(key, candidate);
    }
    if (seen.has(key)) return;
    seen.add(key);
    if (start === firstContent) candidate.leading += weight;
    if (!loose) candidate.tight += weight;
    const surface = finished(shown, isUnspaced(shown.join('')));
    candidate.surfaces.set(surface, (candidate.surfaces.get(surface) ?? 0) + weight * (loose ? 0.25 : 1));
  };
  for (let start = 0; start < words.length; start += 1) {
    if (!words[start]!.content) continue;
    const stems: string[] = [];
    const shown: string[] = [];
    for (let end = start; end < words.length && end < start + 7; end += 1) {
      const word = words[end]!;
      if (end > start && word.afterBreak) break;
      if (!word.determiner) shown.push(word.text);
      if (!word.content) {
        if (word.determiner || word.connector) continue;
        break;
      }
      if (stems.includes(word.stem)) break;
      stems.push(word.stem);
      if (stems.length > 4 || shown.length > MOST_WORDS) break;
      note(stems, shown, start, false);
    }
  }
  for (let start = 0; start < words.length; start += 1) {
    const first = words[start]!;
    if (!first.content) continue;
    for (let end = start + 2; end < words.length && end <= start + FARTHEST_PAIR; end += 1) {
      const second = words[end]!;
      if (second.afterBreak) break;
      if (!second.content || second.stem === first.stem) continue;
      let before = end - 1;
      while (before > start && words[before]!.determiner) before -= 1;
      const tie = words[before]!;
      const shown =
        before > start && tie.connector ? [first.text, tie.text, second.text] : [first.text, second.text];
      note([first.stem, second.stem], shown, start, true);
    }
  }
}

const FARTHEST_PAIR = 8;

/** How good a name of so many content words is: of a topic two or three, of a cluster one or two. */
const LENGTH_FACTORS = { topic: [0, 0.35, 1, 1, 0.7], cluster: [0, 0.85, 1, 0.6, 0.3] } as const;

/** The form most members use; ties: the shorter, then by code point. */
function surfaceOf(candidate: Candidate): string {
  let best = '';
  let bestWeight = -1;
  for (const [surface, weight] of candidate.surfaces) {
    const better =
      weight > bestWeight ||
      (weight === bestWeight &&
        (surface.length < best.length || (surface.length === best.length && surface < best)));
    if (better) {
      best = surface;
      bestWeight = weight;
    }
  }
  return best;
}

/** Joins words into a name: first letter a capital, at most 60 characters, cut at a word. */
function finished(words: readonly string[], unspaced: boolean): string {
  let name = '';
  for (const word of words) {
    const longer = name === '' || unspaced ? name + word : `${name} ${word}`;
    if (longer.length > LONGEST_NAME) break;
    name = longer;
  }
  if (name === '' && words.length > 0) name = Array.from(words[0]!).slice(0, LONGEST_NAME).join('');
  const [first = '', ...rest] = Array.from(name);
  return first.toUpperCase() + rest.join('');
}

/** The first name not in `taken`; else the first with a number. */
export function uniqueName(names: readonly string[], taken: ReadonlySet<string>): string {
  const base = names[0] ?? 'Unnamed';
  const free = [...names, base].find((name) => !taken.has(name));
  if (free !== undefined) return free;
  for (let number = 2; ; number += 1) {
    const name = `${base} (${number})`;
    if (!taken.has(name)) return name;
  }
}
