/**
 * Finds the part of a user turn that carries the request. Spoken and long turns open with greetings,
 * names and small talk, give numbers and addresses and end in politeness: what the turn is about stands in one or two
 * of its sentences.
 */
import type { RequestSentence } from '../domain/facts.ts';
import { chosenSentences, joinedSentences } from '../language/chosen-sentences.ts';
import { isOnlyComplaint } from './signals.ts';
import { LEXICON, type Entries } from '../language/lexicon.ts';
import { fold } from '../language/normalise.ts';
import { alternatives, anyOf } from '../language/patterns.ts';
import { sentenceKey } from '../language/sentence-key.ts';
import { clausesOf, sentencesOf } from '../language/sentences.ts';
import { foldedWordsOf, wordCount } from '../language/words.ts';
import {
  aboutAssistantTopic,
  contentOf,
  isId,
  isIntroduction,
  isReaction,
  isSentFrom,
  isSignOff,
} from './turn-kind.ts';

/** Sentences with more words than this are also looked at clause by clause. */
const LONG_SENTENCE = 28;
/** Content beyond this many words does not make a sentence more of a request. */
const ENOUGH_CONTENT = 8;
/** Of a sentence that stands for its turn only when no other says anything. */
const LEAST_SCORE = 0.1;
/** At most so many sentences are weighed: the first ones. */
const MAX_SENTENCES = 60;
/** So many are told, the most request-like ones. */
const MOST_TOLD = 8;

/** Wishes, questions and commands. */
const ASKING = anyOf(
  [
    "(?:can|could|would|will|may|might|should|shall) (?:you|i|we|someone|somebody|u)|(?:i|we)(?:'d| would|'m| am|'re| are)? (?:also |really |just |actually |still |now )*(?:like|love|want|wanna|need|wish|hope|trying|looking|calling|interested|wondering|wonder|hoping|here|seeking|searching|after|thinking|planning|curious)|(?:need|want|looking|trying|how|where|when|why|what|which|who|whose|is there|are there|do you|does|did|is it|are you able)|help (?:me|with|us)|(?:please|kindly) \\p{L}+|tell me|show me|give me|send me|let me know|find me|get me|explain|any way|is it possible",
    'quiero|quisiera|necesito|me gustaria|busco|puede[ns]?|podria[ns]?|puedo|como|donde|cuando|cuanto|por que|cual|ayuda|quero|queria|gostaria|preciso|pode|poderia|posso|onde|quando|quanto|qual|ajuda',
    "je (?:veux|voudrais|souhaite|cherche|dois|peux)|j'(?:aimerais|ai besoin)|pouvez[- ]vous|pourriez[- ]vous|peux[- ]tu|est[- ]ce que|comment|ou est|quand|combien|pourquoi|quel(?:le)?s?|aide[rz]?|voglio|vorrei|ho bisogno|cerco|puo|puoi|potrebbe|posso|come|dove|quando|quanto|perche|quale|aiut\\p{L}+",
    'ich (?:mochte|will|wurde|brauche|suche|benotige)|konnen sie|konnten sie|kannst du|kann ich|wie|wo|wann|warum|wieviel|welche[rs]?|hilfe|helfen|ik (?:wil|zou|heb|zoek)|kunt u|kun je|kan ik|hoe|waar|wanneer|waarom|welke|help',
    'chce|chcialbym|chcialabym|potrzebuje|szukam|czy (?:moge|mozesz|mozna|moglbys)|jak|gdzie|kiedy|ile|dlaczego|pomoz|хочу|хотел(?:а)? бы|нужно|нужен|нужна|ищу|можете|можно|могу|как|где|когда|сколько|почему|какой|какая|помогите',
  ],
  [
    '我(?:想|要|需要)|想(?:要|找|问|订|知道)|请|能不能|可以.{0,12}吗|怎么|哪|什么|多少|帮我?|吗|たい|ください|できます|方法|どう|どこ|いつ|何|なぜ|教えて|어떻게|어디|언제|얼마|해\\s?주세요|싶',
  ],
);
/** Something is wrong: states a request without asking. */
const PROBLEM = anyOf(
  [
    "(?:not|n't|never|no longer|cannot|unable to|failed to|won't|stopped) \\p{L}+|problem|issue|error|trouble|broken|broke|lost|stolen|missing|wrong|failed|fails|declined|late|delayed|damaged|accident|complaint|crash\\p{L}*|stuck|charged|expired|forgot|stopped working",
    'no (?:funciona|puedo|llega|aparece)|problema|error|perdid[oa]|robad[oa]|roto|nao (?:funciona|consigo)|erro|quebrad[oa]|ne (?:marche|fonctionne) pas|probleme|erreur|perdu|vole|casse|non (?:funziona|riesco)|errore|rotto|funktioniert nicht|geht nicht|fehler|verloren|gestohlen|kaputt|werkt niet|probleem|fout|kapot|nie dziala|blad|zgubil\\p{L}+|не работает|проблема|ошибка|потерял\\p{L}*',
  ],
  ['不能|无法|没有?收到|坏了|丢了|问题|错误|できない|壊れ|エラー|問題|안\\s?돼|오류|문제'],
);
/** Asking for help in general names no topic. */
const GENERIC = anyOf(
  [
    "(?:can|could|would|will|may) (?:you|someone|anyone|somebody|u) (?:please |possibly |kindly )*(?:help|assist)(?: me| us)?(?: (?:out|please|with (?:this|that|it|something)))*(?=[\\s?.!]*$)|(?:i )?need (?:some |your )?(?:help|assistance)(?: please)?(?=[\\s?.!]*$)|(?:i have|i've got|got) (?:a |some |one |another )*(?:quick )?questions?(?: for you)?(?=[\\s?.!]*$)|help me(?: please)?(?=[\\s?.!]*$)|what (?:can|should) i do(?=[\\s?.!]*$)",
  ],
  [],
);
/** The opening of a sentence that only leads up to its request. */
const LEAD = new RegExp(
  `^(?:(?:${[
    'hi+|hello+|hey+|hiya|hai|good (?:morning|afternoon|evening|day)|greetings|yes|yeah|yep|yup|yea|no|nope|ok(?:ay)?|sure|alright|well|so|oh|um+|uh+|er+|ah+|hmm+|mm+|like|great|perfect|awesome|excellent|cool|nice|thanks(?: (?:a lot|so much))?|thank you(?: (?:so|very) much)?|sorry|excuse me|please|also|and|but|then|actually|basically|listen|look|sir|madam|there|you know|i mean',
    'hola|buenos dias|buenas (?:tardes|noches)|ola|oi|bom dia|boa tarde|bonjour|bonsoir|salut|hallo|guten (?:tag|morgen|abend)|ciao|buongiorno|buonasera|hoi|goedemorgen|goedemiddag|czesc|dzien dobry|привет|здравствуйте|добрый день|gracias|merci|danke|grazie|obrigad[oa]|bedankt|dziekuje|спасибо|si|oui|ja|sim|tak|да',
    '你好|您好|好的|谢谢|こんにちは|すみません|안녕하세요',
  ].join('|')})(?![\\p{L}\\p{N}'])[\\s,.!;:，。！、-]*)+`,
  'iu',
);
const CJK_LEAD = /^(?:(?:你好|您好|好的|谢谢你?|请问|こんにちは|すみません|안녕하세요)[\s,.!，。！、]*)+/u;

const EVERY_GENERIC = new RegExp(GENERIC.source, 'gu');

const folded = ({ all }: Entries): string => alternatives(all.map(fold));
/** Digits said one by one, and letters as names are spelled. */
const SPELLED = `(?:${folded(LEXICON.digits)}|[a-z])`;
/** A number of five digits or more as accounts, policies and telephones have it (no time, no amount); a spelled one. */
const IDENTIFIER = `(?:[+(#]?(?:[a-z]{0,3}\\d[\\s().-]{0,2}){4,40}\\d(?![:,]?\\d)|(?:${SPELLED}[\\s,.-]+){3,40}${SPELLED}(?![\\p{L}]))`;
const ADDRESS = '[^\\s@]@[^\\s@]{1,64}\\.\\p{L}{2}';
const IS = `${folded(LEXICON.valueMarkers)}|[:=#]`;
/** States who one is, how one can be reached, or under which number: what the request needs, not what it is. */
const DATA = new RegExp(
  [
    `(?<!\\p{L})(?:${IS})[\\s:#]{0,8}${IDENTIFIER}`,
    ADDRESS,
    "^(?:\\P{L}*(?:and|so|also|then|well|oh|yes|ok|okay|lastly|finally) )*(?:my|the|his|her|our|here's my|here is my) (?:[\\p{L}'-]+ ){0,3}(?:names?|numbers?|address|e-?mail|phone|zip|postcode|code|birthday|birth|ssn|password|pin|username|dob|id)(?: [\\p{L}'-]+){0,6}?(?:'s| is| are| was| would be| will be| should be| has to be|:)(?!\\p{L})",
    "(?<!\\p{L})(?:you|u) (?:can|could|may) (?:also )?(?:call|reach|e-?mail|contact|text|phone|message)(?: to)? me|(?:i'm|i am|i was) (?:registered|listed|born)(?!\\p{L})|(?:call|reach|e-?mail|contact|text|phone) me (?:at|on|under)(?!\\p{L})",
  ]
    .map((pattern) => `(?:${pattern})`)
    .join('|'),
  'u',
);

/** Asks for help and says no more. */
function isGeneric(folded: string): boolean {
  return GENERIC.test(folded) && contentOf(folded.replace(EVERY_GENERIC, ' ')) === 0;
}

/** Only gives data. */
function isData(folded: string): boolean {
  return !ASKING.test(folded) && !PROBLEM.test(folded) && DATA.test(folded);
}

interface Weight {
  /** How much a sentence looks like the request of its turn; 0 when it says nothing. */
  readonly score: number;
  readonly wishes: boolean;
  /** Wishes, or says that something is wrong. */
  readonly asks: boolean;
}

function weigh(folded: string): Weight {
  const content = contentOf(folded);
  if (content === 0) return SAYS_NOTHING;
  if (isGeneric(folded) || isData(folded)) return { score: LEAST_SCORE, wishes: false, asks: false };
  let score = 0.25 * Math.min(content, ENOUGH_CONTENT);
  const wishes = ASKING.test(folded);
  const complains = PROBLEM.test(folded);
  const questions = QUESTION.test(folded);
  if (wishes) score += 1;
  if (complains) score += 0.5;
  if (questions) score += 0.4;
  return { score, wishes: wishes || questions, asks: wishes || questions || complains };
}

const SAYS_NOTHING: Weight = { score: 0, wishes: false, asks: false };
const QUESTION = /[?？]/;

/** The request in a user turn, and the sentences that it is chosen from. */
export interface ReadRequest {
  /** '' when the turn has none. */
  readonly request: string;
  /** The topic of a turn without a request that asks the assistant about itself; else null. */
  readonly aboutAssistant: string | null;
  /** At most 8, in their order. */
  readonly sentences: readonly ToldSentence[];
}

type ToldSentence = Omit<RequestSentence, 'vector'>;

/**
 * The request in a user turn, without what leads up to it; none for thanks, greetings, confirmations, complaints
 * about the answer, bare numbers and names, small talk. Of a short turn all sentences that say something; of a longer
 * one the most request-like, in their order. What only gives data (names, numbers, addresses) or asks for help in
 * general stands for the turn only when nothing else does.
 */
export function readRequest(text: string, complains = true): ReadRequest {
  const weighed: ToldSentence[] = [];
  let aboutAssistant: string | null = null;
  for (const sentence of sentencesOf(text).slice(0, MAX_SENTENCES)) {
    const parts = wordCount(sentence) <= LONG_SENTENCE ? [sentence] : clausesOf(sentence);
    for (const part of parts) {
      const folded = fold(part);
      const weight = weigh(folded);
      const words = foldedWordsOf(folded);
      const topic = aboutAssistantTopic(folded, words);
      aboutAssistant ??= topic;
      if (topic !== null || weight.score === 0 || (complains && isOnlyComplaint(part))) continue;
      if (foundsNothing(part, folded, words, weight)) continue;
      const { score, asks } = weight;
      weighed.push({ text: part.trim(), score, words: wordCount(folded), asks, key: 0 });
    }
  }
  if (weighed.length === 0) return { request: '', aboutAssistant, sentences: [] };
  const real = weighed.filter(({ score }) => score > LEAST_SCORE);
  const sentences = (real.length > 0 ? real : weighed).map((sentence) => ({
    ...sentence,
    text: withoutLead(sentence.text),
  }));
  const request = joinedSentences(chosenSentences(sentences));
  return { request, aboutAssistant: null, sentences: told(sentences) };
}

/** A sentence with words of its own that still names nothing that could be a topic. */
function foundsNothing(
  sentence: string,
  folded: string,
  words: readonly string[],
  { wishes, asks }: Weight,
): boolean {
  if (isSentFrom(folded)) return true;
  if (wishes) return false;
  return (
    isReaction(folded, words) ||
    (!asks && (isId(folded) || isSignOff(folded, words) || isIntroduction(sentence.trim())))
  );
}

function told(sentences: readonly ToldSentence[]): ToldSentence[] {
  const most =
    sentences.length <= MOST_TOLD
      ? sentences
      : sentences.toSorted((a, b) => b.score - a.score).slice(0, MOST_TOLD);
  return sentences
    .filter((sentence) => most.includes(sentence))
    .map((sentence) => ({ ...sentence, key: sentenceKey(sentence.text) }));
}

/** The request of `readRequest` alone. */
export function requestOf(text: string): string {
  return readRequest(text).request;
}

function withoutLead(sentence: string): string {
  const trimmed = sentence.replace(LEAD, '').replace(CJK_LEAD, '').trim();
  if (trimmed === sentence) return sentence;
  return trimmed === '' || contentOf(fold(trimmed)) === 0 ? sentence : trimmed;
}
