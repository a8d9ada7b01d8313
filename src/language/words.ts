import { LRUCache } from 'lru-cache';

/** Words of a text, with what naming needs to know about each. */
export interface Word {
  /** As written. */
  readonly text: string;
  /** Where it begins, in UTF-16 units. */
  readonly start: number;
  /** Lower case, without the most common endings: what makes two words the same. */
  readonly stem: string;
  /** Carries meaning of its own (no article, pronoun, auxiliary, preposition, filler). */
  readonly content: boolean;
  /** May stand between two content words of a name: "proof of insurance", "order not delivered". */
  readonly connector: boolean;
  /** An article or possessive, which a name leaves out. */
  readonly determiner: boolean;
  /** Something other than space stands between the word before and this one. */
  readonly afterBreak: boolean;
}

function set(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/));
}

const DETERMINERS = set(
  `a an the my your our his her their its this that these those some any
   der die das den dem des ein eine einen einem einer eines mein meine meinen meinem meiner dein deine
   le la les un une des mon ma mes ton ta tes votre vos notre nos ce cette ces
   el los las una unos unas mi mis tu tus su sus este esta estos estas
   o os as um uma uns umas meu minha meus minhas seu sua il lo gli i uno mio mia miei mie tuo tua
   de het een mijn jouw uw`,
);

/**
 * Short lists for the languages most often met; words that are common in an instance weigh little anyway.
 * Days and months are here too: when something is wanted is not what is wanted.
 */
const FUNCTION_WORDS = set(
  `today tomorrow yesterday tonight morning afternoon evening noon am pm
   january february march april june july august september october november december
   monday tuesday wednesday thursday friday saturday sunday
   i you he she it we they me him us them myself yourself who whom which what when where why how
   am is are was were be been being do does did doing done have has had having can could will would shall should may might must
   and or but if then than so because as of at by for with about into to from in on over under
   not no yes just very too also only there here again more most much many such own same other another
   however certainly course sure case instead good great nice best better fine perfect sound sounds sounded kind sort lot people person
   please thanks thank hello hi hey ok okay well im i'm i'd i'll i've it's that's there's what's don't can't isn't doesn't
   want wanted need needed like know tell let get got give go going help way able possible one thing things something anything
   long yet already ever still after before while until since during without within via per says said saying dont cant id ill ive whats gonna wanna really now still want's yeah
   ich du er sie es wir ihr mich mir dich dir uns euch ihnen ist sind war waren bin bist sein haben habe hat hatte kann können könnte möchte will wollen
   und oder aber wenn dann als weil mit von zu zum zur für auf aus bei nach über unter in im an am um nicht kein keine ja nein bitte danke wie was wo wann warum
   je tu il elle nous vous ils elles on me te se moi toi est sont suis es était être ai as a avons avez ont peux peut pouvez pourrais voudrais veux
   et ou mais si donc de du à au aux en dans sur sous pour par avec sans ne pas plus oui non merci comment que qui quoi où quand pourquoi
   yo tú él ella nosotros ellos es son soy era ser estar está he ha han puedo puede podría quiero quisiera necesito
   y o pero si porque de del a al en con sin por para no sí gracias cómo qué quién dónde cuándo
   eu você ele ela nós eles é são sou foi ser estar tenho tem posso pode poderia quero preciso e ou mas se porque do da dos das no na em com sem por para não sim obrigado como que quem onde quando
   io lui lei noi voi loro è sono sei siamo ho hai ha posso puoi può vorrei voglio e o ma se perché di del della da in con su per tra non sì grazie come che chi dove quando
   你 您 我 他 她 它 我们 你们 他们 的 了 吗 吧 呢 啊 是 在 有 和 与 或 能 可以 请 请问 帮 帮我 给 把 被 将 就 都 也 还 很 最 再 不 没 没有 这 那 这个 那个 一个 一些 一下 什么 怎么 怎样 如何 哪 哪些 哪里 哪个 为什么 多少 需要 想 要 会 来 去 到 从 对 为 现在 告诉 知道 好 好的 谢谢
   你能 您能 你会 我想 我要 我需要 想要 能否 可否 你好 您好 是否 应该 关于 因为 所以 如果 但是
   از به در با که این آن را و برای هم تا یا من تو شما ما است بود باید چه چگونه آیا بهتر
   في من على إلى عن مع هل ما هذا هذه كيف أنا أنت هو هي أريد
   я ты он она мы вы они в на с и или не что как где когда это мой мне хочу можно у по за к от для
   私 何 誰 方 事 物 時 人
   ik jij hij zij wij jullie is zijn was ben heb heeft kan kunnen wil en of maar als want van voor met op aan bij naar niet geen ja nee hoe wat waar wanneer`,
);

/** Prepositions and "not" that tie a name together. */
const CONNECTORS = set(
  `of for to with in on from by at into as not without
   von für mit zu zum zur aus bei auf nicht ohne de du des pour avec sans à au pas del al para con sin por no em do da per senza van voor met op niet`,
);

const WORD = /[\p{L}\p{N}]+(?:['’\-.@_][\p{L}\p{N}]+)*/gu;
/** Scripts that write no spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const UNSPACED_WORDS = new Intl.Segmenter('zh', { granularity: 'word' });

/** True where words follow each other without spaces, so that a phrase is joined without them too. */
export function isUnspaced(text: string): boolean {
  return UNSPACED.test(text);
}

/** Texts whose words are kept: a request is read by several, and again whenever its topic is named. */
const KEPT_TEXTS = 4096;
const kept = new LRUCache<string, readonly Word[]>({ max: KEPT_TEXTS });

export function wordsOf(text: string): readonly Word[] {
  let words = kept.get(text);
  if (words === undefined) {
    words = readWords(text);
    kept.set(text, words);
  }
  return words;
}

function readWords(text: string): Word[] {
  const words: Word[] = [];
  let end = -1;
  for (const { word, index } of pieces(text)) {
    const lower = word.toLowerCase().replaceAll('’', "'");
    const gap = end < 0 ? '' : text.slice(end, index);
    words.push({
      text: word,
      start: index,
      stem: stemOf(lower),
      content: isContent(lower),
      connector: CONNECTORS.has(lower),
      determiner: DETERMINERS.has(lower),
      afterBreak: /[^\s]/u.test(gap),
    });
    end = index + word.length;
  }
  return words;
}

/** What begins with a digit (numbers, dates, times) and words in hiragana alone (particles, endings) say nothing by themselves. */
function isContent(lower: string): boolean {
  if (DETERMINERS.has(lower) || FUNCTION_WORDS.has(lower)) return false;
  return !/^(?:\p{N}.*|\p{Script=Hiragana}+)$/u.test(lower);
}

function* pieces(text: string): Iterable<{ word: string; index: number }> {
  if (!isUnspaced(text)) {
    for (const match of text.matchAll(WORD)) yield { word: match[0], index: match.index };
    return;
  }
  for (const piece of UNSPACED_WORDS.segment(text)) {
    if (piece.isWordLike === true) yield { word: piece.segment, index: piece.index };
  }
}

/** Cuts the endings that most often separate forms of one English word; other languages mostly keep theirs. */
function stemOf(lower: string): string {
  let stem = lower.replace(/'s$/, '');
  if (/[^a-z'-]/.test(stem) || stem.length < 4) return stem;
  if (stem.endsWith('ies') && stem.length > 4) stem = stem.slice(0, -2);
  else if (/(?:ss|sh|ch|x|z)es$/.test(stem)) stem = stem.slice(0, -2);
  else if (stem.endsWith('s') && !/(?:ss|us|is)$/.test(stem)) stem = stem.slice(0, -1);
  if (stem.endsWith('ing') && stem.length > 5) stem = undoubled(stem.slice(0, -3));
  else if (stem.endsWith('ed') && stem.length > 4) stem = undoubled(stem.slice(0, -2));
  else if (stem.endsWith('ation') && stem.length > 8) stem = undoubled(stem.slice(0, -5)).replace(/ll$/, 'l');
  if (stem.length > 3 && stem.endsWith('e')) stem = stem.slice(0, -1);
  if (stem.length > 3 && /[^aeiou]y$/.test(stem)) stem = `${stem.slice(0, -1)}i`;
  return stem;
}

function undoubled(stem: string): string {
  return /([bdgklmnprt])\1$/.test(stem) && !/(?:ll|ss)$/.test(stem) ? stem.slice(0, -1) : stem;
}
