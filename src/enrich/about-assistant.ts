/**
 * Requests to the assistant about itself: what it is, who made it, what it can do. They are one topic of every instance,
 * whatever words they are in.
 * Covered by test/enrich/about-assistant.test.ts.
 */
import { anyOf } from '../language/patterns.ts';

interface Language {
  /** What the topic of such requests is called in this language. */
  readonly topic: string;
  /** On folded sentences. */
  readonly asks: RegExp;
}
interface CuedLanguage extends Language {
  /** One of these words is in every such request: most sentences are passed over by them. */
  readonly cues: ReadonlySet<string>;
}

const flags = 'gu';
const wordSet = (cues: string): ReadonlySet<string> => new Set(cues.split(' '));

const ENGLISH: CuedLanguage = {
  topic: 'Questions to the assistant',
  cues: wordSet(
    'you your u yourself bot robot human humans machine ai computer chatbot automated alive sentient program person people',
  ),
  asks: anyOf(
    [
      "(?:are|r|is) (?:you|u|this|that|it|there)(?: (?:just|really|actually|only|some|kind|of|sort|possibly))* (?:a |an |the )?(?:\\w+ )?(?:real|human|humans|bot|robot|machine|ai|person|people|computer|chatbot|automated|alive|sentient|program)(?: (?:person|human|being|people|here|or|and|a|an|the|bot|robot|machine|ai|computer|program|chatbot|real|just|what))*|(?:am i|i'm) (?:really |actually )?(?:talking|speaking|chatting) (?:to|with) (?:a|an|the|some)(?: (?:real|actual|live|human))* (?:bot|robot|machine|ai|person|human|computer|chatbot)(?: (?:or|a|an|bot|robot|machine|ai|person|human|computer|real|now|here))*",
      'who (?:are you|is this|made you|created you|built you|fabricated you|programmed you|designed you|developed you|invented you|trained you|owns you|do you work for|is your (?:boss|maker|creator|manager|owner|manufacturer|employer|master|designer))|(?:who|which (?:company|person|people|bank|firm|team)) (?:\\w+ ){0,2}?(?:made|created|built|designed|programmed|developed|invented|manufactured|trained) you|how (?:were|are) you (?:made|created|built|programmed|trained)',
      "(?:what(?:'s| is| are|'re)?|tell me|know|say|give me) (?:is )?your (?:first |real |full |own )?(?:name|age|hobby|hobbies|birthday|birth ?date|favou?rite \\w+|purpose|gender|origin|job|boss|home ?(?:town|country|land))|what (?:do|should|can|may|could) i call you|what (?:are you called|do they call you|do you go by|should you be called)|do you have (?:a |any )?(?:names?|pets?|hobb(?:y|ies)|feelings|friends|family|siblings|kids|children|birthday|boss|girlfriend|boyfriend|gender)|how old (?:are you|you are)|(?:what|when)(?:'s| is| was| year)? (?:were )?(?:your (?:age|birthday|date of birth|birth date)|you (?:born|made|created|built))|where (?:are|were|do|did) you (?:come )?(?:from|born|live|made|created|built|reside|originate)|(?:where|what country) (?:\\w+ ){0,3}?you(?:'re| are)? (?:from|born)|what do you (?:like|enjoy|love) (?:to do |doing )?(?:for fun|in your (?:free|spare) time|when you(?:'re| are) not)|what (?:kind|sort|type) of (?:bot|robot|ai|assistant|model) are you|which (?:language )?model are you",
      'what (?:all |else |other things |things |stuff )?(?:can|could|do|are) you (?:able to )?(?:do|help(?: me)?(?: out)? with|assist(?: me)? with|capable of)(?: for me)?|what are your (?:capabilities|abilities|skills|features|functions)|what (?:\\w+ ){0,5}?(?:can|could|should|may|might) i (?:ask|say to) you(?: about)?|how (?:can|could) you help(?: me)?|tell me (?:more )?about yourself|introduce yourself|what are you(?=[\\s?.!]*$)|do you (?:dream|sleep|eat|have fun|get bored|have feelings|get tired|breathe)',
    ],
    [],
    flags,
  ),
};

const SPACED: readonly CuedLanguage[] = [
  {
    topic: 'Preguntas sobre el asistente',
    cues: wordSet(
      'anos bot creado creo diseno eres hecho hizo humano llama llaman llamas nombre persona programo puede puedes quien robot sabes sirves usted',
    ),
    asks: anyOf(
      [
        'quien (?:eres|es usted|te (?:creo|hizo|ha creado|ha hecho|programo|diseno)|lo creo)|(?:eres|es usted|estoy hablando con) (?:tu )?(?:un |una )?(?:robot|bot|humano|humana|persona(?: real)?|maquina|ia)(?: (?:o|un|una|robot|bot|humano|persona|maquina|real))*|como (?:te llamas|se llama usted|te llaman)|cual es tu nombre|que (?:puedes|sabes|puede) hacer(?: por mi)?|(?:en|con) que (?:me )?puedes ayudar(?:me)?|para que sirves|cuantos anos tienes|de donde eres',
      ],
      [],
      flags,
    ),
  },
  {
    topic: 'Perguntas sobre o assistente',
    cues: wordSet('anos bot chama chamas consegue humano nome pode quem robo sabe tu voce'),
    asks: anyOf(
      [
        'quem (?:e voce|es tu|te (?:criou|fez|programou)|criou voce|fez voce)|(?:voce e|es|tu es|estou falando com) (?:um |uma )?(?:robo|bot|humano|pessoa(?: real| de verdade)?|maquina|ia)(?: (?:ou|um|uma|robo|bot|humano|pessoa|maquina|real))*|como (?:voce se chama|te chamas|se chama voce)|qual (?:e )?(?:o )?(?:seu|teu) nome|o que (?:voce )?(?:sabe|pode|consegue) fazer|em que (?:voce )?pode (?:me )?ajudar|quantos anos (?:voce )?tem',
      ],
      [],
      flags,
    ),
  },
  {
    topic: "Questions à l'assistant",
    cues: wordSet("es etes nom sais sers servez t'a t'es tu vous"),
    asks: anyOf(
      [
        "qui (?:es[- ]tu|etes[- ]vous|t'a (?:cree|fait|programme|concu)|vous a (?:cree|fait|programme|concu))|(?:(?:es[- ]tu|etes[- ]vous|tu es|vous etes|t'es|est-ce que (?:tu es|vous etes)|je parle (?:a|avec)) (?:bien |vraiment )?(?:un |une )?(?:vrai |vraie )?(?:robot|bot|humain|personne|machine|ia)(?: (?:ou|un|une|robot|bot|humain|personne|machine|reelle))*)|comment (?:t'appelles[- ]tu|vous appelez[- ]vous|tu t'appelles|vous vous appelez)|quel est (?:ton|votre) nom|que (?:sais[- ]tu|peux[- ]tu|savez[- ]vous|pouvez[- ]vous) faire(?: pour moi)?|qu'est[- ]ce que (?:tu sais|tu peux|vous savez|vous pouvez) faire|quel age as[- ]tu|a quoi (?:sers[- ]tu|servez[- ]vous)",
      ],
      [],
      flags,
    ),
  },
  {
    topic: "Domande sull'assistente",
    cues: wordSet('bot chi chiama chiami hai lei nome persona puo puoi robot sai sei umano'),
    asks: anyOf(
      [
        "chi (?:sei|e lei|ti ha (?:creato|fatto|programmato|inventato))|(?:sei|e lei|sto parlando con|parlo con) (?:un |una |un')?(?:robot|bot|umano|umana|persona(?: vera)?|macchina|ia)(?: (?:o|un|una|robot|bot|umano|persona|macchina|vera))*|come (?:ti chiami|si chiama lei)|qual e il tuo nome|(?:che )?cosa (?:sai|puoi) fare(?: per me)?|in cosa puoi aiutarmi|quanti anni hai",
      ],
      [],
      flags,
    ),
  },
  {
    topic: 'Fragen zum Assistenten',
    cues: wordSet('alt bist heissen heisst kannst konnen mit name wer wobei'),
    asks: anyOf(
      [
        'wer (?:bist du|sind sie|hat dich (?:gemacht|gebaut|erschaffen|programmiert|entwickelt|erfunden)|hat sie (?:programmiert|entwickelt))|(?:bist du|sind sie|spreche ich mit|rede ich mit|schreibe ich mit) (?:denn |eigentlich |wirklich )?(?:ein |eine |einem |einer )?(?:echter |echte |echten |echtem )?(?:roboter|mensch|menschen|bot|chatbot|maschine|ki|person|computer)(?: (?:oder|ein|eine|einem|einer|roboter|mensch|menschen|bot|maschine|ki|person|echter))*|wie (?:heisst du|heissen sie|ist dein name|alt bist du)|was (?:kannst du|konnen sie)(?: denn| so| alles| eigentlich)*(?: (?:tun|machen|fur mich tun))?(?=[\\s?.!]*$)|wobei (?:kannst du|konnen sie) (?:mir )?helfen',
      ],
      [],
      flags,
    ),
  },
  {
    topic: 'Vragen aan de assistent',
    cues: wordSet('je jij naam u waarmee'),
    asks: anyOf(
      [
        'wie (?:ben je|bent u|ben jij|heeft (?:je|jou|u) (?:gemaakt|gebouwd|geprogrammeerd|ontwikkeld))|(?:ben je|ben jij|bent u|praat ik met|spreek ik met) (?:een )?(?:echt |echte )?(?:robot|bot|chatbot|mens|persoon|machine|computer|ai)(?: (?:of|een|robot|bot|mens|persoon|machine|echt))*|hoe (?:heet je|heet jij|heet u|oud ben je)|wat is je naam|wat (?:kun|kan) (?:je|jij)(?: allemaal| zoal)?(?: doen)?(?=[\\s?.!]*$)|waarmee kun je (?:me |mij )?helpen',
      ],
      [],
      flags,
    ),
  },
  {
    topic: 'Pytania o asystenta',
    cues: wordSet('imie jestes kim kto masz mozesz nazywasz potrafisz rozmawiam umiesz'),
    asks: anyOf(
      [
        'kim (?:jestes|pan jest|pani jest)|kto cie (?:stworzyl|zrobil|zaprogramowal)|(?:czy )?(?:jestes|rozmawiam z) (?:robotem|botem|czlowiekiem|maszyna|prawdziwa osoba)(?: (?:czy|robotem|botem|czlowiekiem|maszyna))*|jak (?:masz na imie|sie nazywasz)|co (?:potrafisz|umiesz)(?: zrobic)?|w czym mozesz (?:mi )?pomoc|ile masz lat',
      ],
      [],
      flags,
    ),
  },
  {
    topic: 'Вопросы об ассистенте',
    cues: wordSet('вы тебе тебя ты я'),
    asks: anyOf(
      [
        '(?:а )?ты (?:кто|робот|бот|человек|машина|живой|настоящий человек|ии)(?: (?:или|робот|бот|человек|машина|живой))*|вы (?:робот|бот|человек|живой человек)(?: (?:или|робот|бот|человек))*|кто (?:ты|вы)(?: (?:такой|такая|такие))?|я (?:говорю|общаюсь) с (?:роботом|ботом|человеком)|кто тебя (?:создал|сделал|придумал|написал|разработал)|как тебя зовут|что ты (?:умеешь|можешь)(?: делать)?|чем ты можешь (?:мне )?помочь|сколько тебе лет',
      ],
      [],
      flags,
    ),
  },
  {
    topic: 'Asistanla ilgili sorular',
    cues: wordSet(
      'adin adiniz kimsin misin misiniz musun musunuz olabilirsin seni yapabilirsin yapabilirsiniz yapabiliyorsun yasindasin',
    ),
    asks: anyOf(
      [
        '(?:sen )?(?:bir )?(?:robot|bot|insan|makine|yapay zeka) (?:musun|misin|musunuz|misiniz)|(?:sen )?kimsin|seni kim (?:yapti|yaratti|gelistirdi|programladi)|ad(?:in|iniz) ne|(?:sen )?neler? (?:yapabilirsin|yapabiliyorsun|yapabilirsiniz)|bana nasil yardimci olabilirsin|kac yasindasin',
      ],
      [],
      flags,
    ),
  },
  {
    topic: 'أسئلة عن المساعد',
    cues: wordSet('أنت أنشأك اسمك انت انتي انشأك برمجك تستطيع صنعك عمرك يمكنك'),
    asks: anyOf(
      [
        '(?:هل )?(?:انت|أنت|انتي) (?:روبوت|بوت|إنسان|انسان|بشر|آلة|اله)(?: (?:أم|ام|او|أو|روبوت|إنسان|انسان|بشر))*|من (?:صنعك|برمجك|أنشأك|انشأك|أنت|انت)|ما (?:اسمك|هو اسمك)|ماذا (?:يمكنك|تستطيع) (?:أن )?(?:تفعل|تفعله|فعله)|كم عمرك',
      ],
      [],
      flags,
    ),
  },
];

/** Languages without spaces between words, and Korean. */
const EAST_ASIAN: readonly Language[] = [
  {
    topic: '关于助手的问题',
    asks: anyOf(
      [],
      [
        '(?:你|您)(?:叫什么(?:名字)?|是谁|几岁|多大|是(?:不是)?(?:机器人|真人|人工智能|人吗|ai)(?:吗|还是(?:真人|机器人|人))?|会(?:做)?(?:什么|哪些)|能(?:够)?(?:做|帮我做|干)(?:什么|些什么|啥)|有什么功能|会干(?:嘛|什么))|谁(?:创造|开发|制造|设计|做|造)了?(?:你|您)|你的名字',
      ],
      flags,
    ),
  },
  {
    topic: 'アシスタントについての質問',
    asks: anyOf(
      [],
      [
        '(?:あなた|君|きみ)は(?:誰|だれ|ロボット|人間|ボット|ai|人)(?:ですか|なの|か)?|(?:誰|だれ)があなたを(?:作りましたか|作った|作ったのですか|開発しましたか)|お?名前は(?:何ですか|なんですか)?|(?:あなたは)?(?:何|なに)が?できますか|(?:あなたは)?(?:何|なに)ができるの',
      ],
      flags,
    ),
  },
  {
    topic: '어시스턴트에 대한 질문',
    asks: anyOf(
      [],
      [
        '(?:너는?|넌|당신은?) ?(?:로봇|사람|인간|봇|챗봇|기계)(?:이야|이에요|인가요|입니까|이니|야)|(?:누가|누구가) (?:널|너를|당신을) (?:만들었어|만들었나요|만들었어요|개발했어)|(?:너는?|넌|당신은?) ?누구(?:야|세요|니|입니까)|누구(?:세요|야)|이름이 ?뭐(?:야|예요|에요|니)?|(?:뭘|무엇을) ?(?:할 수 있어|할 수 있나요|할 수 있니)',
      ],
      flags,
    ),
  },
];

const EAST_ASIAN_LETTER = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/u;

const CUED = new Map<string, CuedLanguage[]>();
for (const language of [ENGLISH, ...SPACED])
  for (const cue of language.cues) CUED.set(cue, [...(CUED.get(cue) ?? []), language]);

/** The languages in which a folded sentence could ask the assistant about itself. */
function languagesOf(folded: string, said: readonly string[]): readonly Language[] {
  if (EAST_ASIAN_LETTER.test(folded)) return EAST_ASIAN;
  const languages: Language[] = [];
  for (const word of said)
    for (const language of CUED.get(word) ?? []) if (!languages.includes(language)) languages.push(language);
  return languages;
}

/** What a folded sentence asks the assistant about itself. */
export interface AskedOfAssistant {
  /** What such requests are called in the language of the sentence. */
  readonly topic: string;
  /** The sentence without it. */
  readonly rest: string;
}

/** What a folded sentence asks the assistant about itself, or null. `said`: its words. */
export function askedOfAssistant(folded: string, said: readonly string[]): AskedOfAssistant | null {
  for (const { topic, asks } of languagesOf(folded, said)) {
    const rest = folded.replace(asks, ' ');
    if (rest !== folded) return { topic, rest };
  }
  return null;
}
