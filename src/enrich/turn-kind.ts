/**
 * Tells a user turn that asks for or states something (`request`) from one that only answers, thanks,
 * greets, complains about the answer or makes small talk (`reply`), by taking away what carries no
 * topic and looking at what is left. A turn with content in a language without rules is a request.
 * Covered by test/enrich/request-sentence.test.ts.
 */
import { FoldedPhrases } from '../language/folded-phrases.ts';
import { LEXICON } from '../language/lexicon.ts';
import { fold } from '../language/normalise.ts';
import { alternatives, anyOf } from '../language/patterns.ts';
import { foldedWordsOf, isFoldedStopWord, wordCount } from '../language/words.ts';
import { askedOfAssistant } from './about-assistant.ts';

const flags = 'gu';

/** Greetings, thanks, farewells, politeness, yes and no, fillers. */
const COURTESY = anyOf(
  [
    // en
    '(?:oh |well |and |but )*(?:hi+|hello+|hey+|hiya|howdy|hai|heya|hlo|greetings|good (?:morning|afternoon|evening|day|night|bye)|goodbye|bye+(?:[ -]bye)?|see (?:you|ya)(?: later| soon)?|cya|take care|later|cheers)(?: (?:there|again|everyone|all|sir|madam|team|buddy|friend|dear|to you))?',
    '(?:no,? )?(?:many |thank|thanks?|thankyou|thanx|thx|tysm|ty|tnx)(?:s| you| u| ya)*(?: (?:so|very|a|for|in|again|much|lot|lots|bunch|ton|million|advance|anyway|all|everything|it|that|this|your|you|the|help|assistance|time|info|information|support|service|kind|quick|response|today|helping(?: me)?(?: out)?|me|out|doing (?:that|this|it)|checking|letting me know|answering|you)(?:s)?)*',
    '(?:i )?(?:really |greatly |highly |do )*(?:appreciate|appreciated)(?: (?:it|that|this|you|your|the|all|help|assistance|time|so|very|much))*|much appreciated',
    "(?:you(?:'re| are) |your )?(?:very |most )?welcome|no (?:problem|worries|prob)|my pleasure|nice (?:to meet you|talking to you)|pleased to meet you|same to you|you too",
    '(?:have|enjoy) (?:a |an |your )?(?:\\w+ )?(?:day|one|night|evening|weekend|afternoon|week|rest of (?:your|the) \\w+)(?: too| ahead)?',
    "(?:oh |ah |um+ |uh+ )*(?:yes|yeah|yep|yup|ya|yea|yess+|sure(?: thing)?|ok+|okay+|okey|okie|k|alright|all right|right|correct|exactly|absolutely|definitely|certainly|of course|indeed|fine|affirmative|agreed|no+|nope|nah|negative|not really|maybe|perhaps|please(?: do)?|pls|plz|kindly|go ahead|do (?:it|that|so)|that(?:'s| is| will be|'ll be| would be| sounds| works)? (?:right|correct|fine|good|great|ok|okay|perfect|it|all|everything|nice|enough|for me|cool|awesome|excellent|wonderful)(?: (?:for|with) (?:me|now|today))*|(?:that|this|it) works(?: (?:for me|now|great|well|fine|perfectly))*|sounds (?:good|great|perfect|fine|nice|like a plan)(?: to me)?|no preference|any(?:thing)?(?: is fine| will do| works)?|(?:i )?(?:do not|don't|dont) (?:care|mind|have (?:a|any) preference)|doesn't matter|either(?: one)?(?: is fine)?|whatever|i (?:guess|think|suppose|hope) so|i agree|(?:let's|lets) (?:do (?:it|that)|go (?:with|for) (?:that|it|this)(?: one)?))",
    "(?:no,? )?(?:that(?:'s| is| was| will be|'ll be| would be| should be)|thats|it(?:'s| is)|i think (?:that(?:'s| is)|i(?:'m| am))|i(?:'m| am)) (?:all|it|everything|good|done|set|all set|all i need(?:ed)?)(?: (?:i|that|is|was|'s|need|needed|wanted|have|for|now|today|right|the|moment|thanks?|at|this|time|from|you))*|nothing(?: else| more)?(?: (?:for )?(?:now|today|right now|at the moment))?|not (?:right now|now|today|yet|at the moment|at this time|really)|no more|all good|all set|i(?:'ll| will) (?:let you know|be in touch|think about it|get back to you)|(?:i )?(?:do not|don't|dont) need (?:anything|any)(?: (?:else|more|help))*(?: (?:for )?(?:now|today|right now))?",
    "(?:great|perfect|excellent|awesome|amazing|wonderful|fantastic|brilliant|lovely|superb|cool|nice|good|super|sweet|wow|yay|hooray|haha+|lol|hehe+|hmm+|mm+|oh+|ah+|aha|um+|uh+|er+|well|so|actually|anyway|great job|good job|well done|nice (?:job|work)|good (?:to know|work|bot)|i see|got it|gotcha|understood|makes sense|i understand|noted|interesting|sorry|excuse me|pardon(?: me)?|oops|my bad|i apologi[sz]e|apologies|never ?mind|forget it|wait|hold on|one (?:moment|second|sec|minute)|just a (?:moment|second|sec|minute)|let me (?:check|see|think)|i hope (?:you(?:'re| are)|this \\w+ finds you) (?:\\w+ ?){1,3})",
    // es pt
    '(?:hola|buen(?:os|as) (?:dias|tardes|noches)(?: a todos)?|buenas|buen dia|que tal|adios|hasta (?:luego|pronto|manana)|chao|ola|oi|bom dia|boa (?:tarde|noite)|tchau|ate (?:logo|mais|breve)|(?:muchas |mil )?gracias(?: por (?:todo|tu ayuda|su ayuda|la ayuda))?|de nada|muit[oa] obrigad[oa]|obrigad[oa](?: pela (?:ajuda|atencao))?|valeu|si|claro(?: que si)?|por supuesto|vale|de acuerdo|esta bien|bien|perfecto|genial|estupendo|excelente|correcto|exacto|no|nao|sim|certo|beleza|perfeito|otimo|por favor|nada mas|eso es todo|es todo|so isso|isso e tudo|mais nada|entiendo|entendido|entendi|lo siento|perdon|disculpe|disculpa|desculpe|que tenga (?:un )?buen dia|tenha um bom dia)',
    // fr it
    "(?:bonjour|bonsoir|salut|coucou|au revoir|a bientot|bonne (?:journee|soiree|nuit)|merci(?: (?:beaucoup|bien|infiniment|pour (?:tout|votre aide|ton aide|l'aide)|d'avance))*|de rien|oui|non|d'accord|ok|bien sur|parfait|super|genial|excellent|tres bien|exactement|c'est (?:bon|tout|parfait|ca|note)|rien d'autre|s'il (?:vous|te) plait|svp|stp|je vois|compris|j'ai compris|pardon|desolee?|excusez[- ]moi|ciao|buon ?giorno(?: a tutti)?|buona ?sera(?: a tutti)?|buona notte|buona giornata|arrivederci|salve|grazie(?: (?:mille|tante|infinite|per (?:tutto|l'aiuto|il tuo aiuto|il suo aiuto)))*|prego|va bene|certo|perfetto|ottimo|esatto|d'accordo|per favore|per piacere|niente altro|nient'altro|e tutto|ho capito|capito|scusa|scusi|mi dispiace)",
    // de nl
    "(?:hallo|guten (?:tag|morgen|abend)(?: zusammen| allerseits| miteinander)?|gute nacht|servus|moin|gruss gott|tschuss|auf wiedersehen|bis (?:bald|dann|spater)|(?:vielen |herzlichen |besten )?dank(?:e)?(?: (?:schon|sehr|dir|ihnen|fur (?:die|ihre|deine) hilfe|im voraus))*|ich danke (?:ihnen|dir)|bitte(?: (?:schon|sehr))?|gern(?:e)?(?: geschehen)?|ja|nein|nee|genau|richtig|stimmt|klar|naturlich|okay|in ordnung|alles klar|gut|sehr gut|super|perfekt|prima|toll|wunderbar|ausgezeichnet|das (?:ist|war)(?:'s| es)? (?:alles|gut|perfekt|super|richtig)|das war'?s|sonst nichts|nichts weiter|verstehe|ich verstehe|verstanden|entschuldigung|sorry|schonen (?:tag|abend)(?: noch)?|hoi|goedemorgen|goedemiddag|goedenavond|dag|doei|tot ziens|bedankt(?: voor (?:je|uw|de) hulp)?|hartelijk dank|dank (?:je|u)(?: wel)?|alsjeblieft|alstublieft|graag(?: gedaan)?|ja hoor|nee|prima|goed|oke|geweldig|perfect|dat is (?:alles|goed|prima|het)|verder niets|begrepen|ik snap het|fijne dag(?: nog)?)",
    // pl ru uk tr id vi sv da no cs ro
    '(?:czesc|dzien dobry|dobry wieczor|witam|witaj|do widzenia|pa|dziekuje(?: (?:bardzo|za pomoc))*|dzieki|prosze|tak|nie|dobrze|okej|jasne|swietnie|super|rozumiem|to wszystko|przepraszam|milego dnia|привет|здравствуйте|здравствуй|добрый (?:день|вечер)|доброе утро|пока|до свидания|спасибо(?: (?:большое|огромное|вам|за помощь))*|благодарю(?: вас)?|пожалуйста|да|нет|хорошо|ладно|конечно|понятно|понял|поняла|ясно|отлично|супер|это все|больше ничего|извините|простите|привіт|дякую|так|ні|добре|merhaba|selam|tesekkur(?:ler)?(?: ederim)?|sag ?ol(?:un)?|evet|hayir|tamam|lutfen|gorusuruz|halo|hai|terima kasih(?: banyak)?|ya|tidak|baik|sama-sama|xin chao|cam on|vang|hej|hejsan|tack(?: sa mycket)?|tak|takk|ahoj|dekuji|diky|multumesc|mersi|buna(?: ziua)?)',
    '(?:γεια(?: σας| σου)?|ευχαριστω|ναι|οχι|مرحبا|السلام عليكم|شكرا(?: جزيلا| لك)?|نعم|لا|سلام|ممنون|مرسی|متشکرم|بله|نه|שלום|תודה(?: רבה)?|כן|לא|नमस्ते|धन्यवाद|शुक्रिया|हाँ|हां|नहीं|ठीक है)',
  ],
  [
    '你好[吗啊呀]?|您好|早上好|晚上好|下午好|(?:非常|十分|太|多)?(?:谢谢|感谢|谢啦|谢了|多谢|謝謝)(?:你|您|了|啦|哦|啊|呀|帮忙|的|帮助)*|再见|拜拜|好的[吧呢呀啊]?|好[吧啊呀嘞]|行[吧啊]?|可以[的啊]?|没问题|是的|是[啊呀]|对的?[啊呀]?|嗯+|哦+|不用了?|不是|没有了|没事了?|知道了|明白了?|懂了|了解了?|太好了|不错|麻烦(?:你|您)?了?|辛苦了|不客气|对不起|抱歉|请问?|那就这样吧?|记下了|收到',
    'こんにちは|こんばんは|おはよう(?:ございます)?|はじめまして|ありがとう(?:ございま(?:す|した))?|どうも|(?:とても|本当に|大変|すごく)?助かりま(?:す|した)|できました|直りました|解決しました|ありました|さようなら|またね|はい|いいえ|うん|そうです(?:ね)?|わかりました|分かりました|了解(?:です|しました)?|大丈夫です|結構です|お願いします|すみません|ごめん(?:なさい|ください)|なるほど|いいですね|すごい',
    '안녕(?:하세요|히\\s?(?:가|계)세요)?|감사(?:합니다|해요|드립니다)|고마워(?:요)?|고맙습니다|네|예|아니(?:요|오)|알겠(?:습니다|어요)|좋아(?:요)?|괜찮(?:아요|습니다)|죄송합니다|สวัสดี(?:ครับ|ค่ะ)?|ขอบคุณ(?:ครับ|ค่ะ)?',
  ],
  flags,
);

/** Talk about how one is, jokes, the meaning of life: no topic. */
const SMALL_TALK = anyOf(
  [
    "how(?:'s| is| are| r|'re)(?: you| u| ya| things| it| life| your (?:day|week|morning|evening|weekend))+(?: (?:going|doing|been|feeling|today|today|so far|treating you))*|how (?:have|'ve) you been|how do you (?:do|feel)|what(?:'s| is)? up|wassup|sup|how goes it",
    "(?:tell|say|know|hear|give|share|got|read|make|crack|like)(?: \\w+){0,5}? (?:jokes?|pun|riddle|fun facts?|funny)|make me laugh|(?:meaning|purpose|point) of (?:life|existence|our existence|human life)|(?:i'm|i am|i feel|feeling) (?:so |very |really |a bit |quite |extremely )*(?:bored|lonely|tired|happy|sad|great|fine|good|excited|nervous|stressed|ok|okay|doing (?:well|good|fine|great))|i love you|do you (?:love me|own|love|like|enjoy)|marry me|test(?:ing)?",
    '(?:are|r) you (?:there|ok|okay|busy|married|single|smart|listening|happy|human)|(?:is )?any(?:one|body) (?:there|here)|what do you do',
    "como (?:estas|esta|te va|vai)|que tal(?: estas)?|tudo bem|cuentame un chiste|conte(?:-me)? uma piada|comment (?:ca va|allez[- ]vous|vas[- ]tu)|ca va|raconte[- ]moi une blague|wie geht(?:'s| es)(?: (?:dir|ihnen))?|erzahl (?:mir )?einen witz|come (?:stai|va)|raccontami una barzelletta|hoe gaat het(?: met (?:je|u))?|vertel een mop|jak sie masz|co slychac|как дела|расскажи (?:анекдот|шутку)|nasilsin|apa kabar",
  ],
  ['您贵姓|讲个笑话|在吗|在不在|お元気ですか|元気(?:ですか)?|잘\\s?지내'],
  flags,
);

/** Complaints about the answer and other talk about the talk: no topic of its own. */
const ABOUT_THE_ANSWER = anyOf(
  [
    "(?:no,? )?(?:that|this|it|which)(?:'s| is| was| isn't| wasn't| are)?(?: \\w+){0,2}? (?:wrong|incorrect|not (?:right|correct|true|what i \\w+(?: for| about)?|helpful|useful|good|working)|right|true|helpful|useless|ridiculous|unacceptable|terrible|awful|confusing|too (?:short|long|vague)|vague)|(?:you(?:'re| are| were)|your answer is) (?:wrong|mistaken|incorrect|useless|not (?:helping|listening|understanding|helpful)|(?:very |so |really )?(?:helpful|kind|great|awesome|amazing|the best|stupid|dumb|an idiot))|you(?:'ve| have) been (?:very |so |really |most |a )?(?:great )?(?:helpful|great|kind|help|wonderful)|not what i (?:asked|meant|said|wanted)(?: for| about)?|(?:that|this|it) (?:did|does|do)(?: not|n't) (?:help|work|answer)(?: me| at all| (?:my )?question)*|you (?:misunderstood|did not understand|didn't understand|don't understand|do not understand)(?: me| my question)?|(?:i|we) (?:already )?(?:told|asked|said)(?: you)?(?: (?:that|this|so|already|before|twice|again))*",
    "(?:that|this|it) (?:solved|fixed|worked|helped|helps|works)(?: (?:it|me|my (?:problem|issue)|the (?:problem|issue)|now|perfectly|great|a lot))*|problem solved|you(?:'re| are) (?:so |very |really |the |a )*(?:helpful|kind|awesome|great|amazing|best|lifesaver|life saver|doll|star|genius|smart)|(?:what the )?(?:hell|heck|fuck)(?: is (?:this|that))?|wtf|omg|come on|are you (?:kidding|serious|joking)(?: me)?|seriously|ugh+|try again|repeat(?: that)?|say (?:that|it) again|again|(?:can|could|would) you (?:please )?(?:repeat|say)(?: (?:that|it|this|again|please))*|what\\?*|huh|i (?:do not|don't|dont) (?:understand|know|get it|think so|remember)|i(?:'m| am) (?:not sure|confused|frustrated|angry|disappointed|listening|here|waiting|back|good|done|sorry|fine)",
    "(?:eso|esto|isso|isto) (?:no|nao) (?:es|e|era) (?:correcto|cierto|verdad|lo que (?:pregunte|pedi)|o que (?:eu )?(?:pedi|perguntei)|correto|verdade)|no (?:me )?(?:ayuda|sirve|entiendes|entiende)|esta(?:s)? (?:mal|equivocado)|ce n'est pas (?:ca|correct|vrai|juste|ce que j'ai (?:demande|dit))|c'est faux|das (?:ist|stimmt) (?:falsch|nicht(?: (?:richtig|wahr|was ich (?:gefragt|gemeint) habe))?)|non e (?:corretto|vero|quello che ho chiesto)|e sbagliato|dat (?:klopt niet|is (?:fout|niet juist|niet wat ik vroeg))|to (?:nieprawda|nie to|bledne)|это (?:неправда|неверно|не то)|вы не правы",
  ],
  ['不对|错了|不是这个|你没听懂|答非所问|違います|間違って(?:います|る)|そうじゃない|틀렸|아니에요'],
  flags,
);

/** "It works now": said of what was discussed, so no topic of its own. Before all others, as its words are in them too. */
const WORKS_NOW = anyOf(
  [
    '(?:(?:ya|ahora) (?:si )?(?:funciona|esta (?:solucionado|resuelto|arreglado))|(?<!nao )(?:deu certo|funcionou|resolveu)(?: agora)?|(?:agora|ja) (?:funciona|esta funcionando)|(?:ca|cela) (?:marche|fonctionne) maintenant|maintenant (?:ca|cela) (?:marche|fonctionne)|(?:es|das) (?:funktioniert|klappt|geht) (?:jetzt|nun)|jetzt (?:funktioniert|klappt|geht) (?:es|das)|(?:ora|adesso) funziona|(?:het|dat) werkt nu|nu werkt (?:het|dat)|(?:juz|teraz) dziala|(?:теперь|уже) (?:работает|получилось))(?! (?:pas|plus|nicht|niet|mas|mais|piu|nie|не))',
  ],
  [],
  flags,
);

/** Who one is and how one can be reached, numbers, dates, amounts: answers to a question back. */
const PERSONAL = anyOf(
  [
    "(?:my|the|his|her|our)? ?(?:full |first |last |user ?|company |account |policy |phone |contact |mobile |telephone |email |e-mail |mail |order |booking |reference |customer |member |social security |zip |postal |home |billing |serial |card |id )*(?:name|number|no|address|email|e-mail|id|code|zip|phone|password|pin|dob|date of birth|birthday|username)(?:'s| is| was|:| are)+(?: (?!(?:and|but|so|i|because|not|no|never|still|too|always|being|getting|wrong|incorrect|invalid|outdated|misspell?ed|missing|blocked|locked|disabled|expired|rejected|declined|lost|stolen|gone)(?![\\p{L}]))[\\p{L}\\p{N}@._-]+){1,6}|(?:my|the) (?:phone|contact|account|policy|order|reference|mobile|telephone|customer) number|(?:this is|i(?:'m| am)|it's|call me|you can call me|here) (?:mr|mrs|ms|miss|dr)\\.? [\\p{L}]+(?: [\\p{L}]+)?",
    "(?:mi nombre es|me llamo|meu nome e|je m'appelle|mon nom est|ich heisse|mein name ist|mi chiamo|il mio nome e|ik heet|mijn naam is|nazywam sie|mam na imie|меня зовут)(?: [\\p{L}]+){1,2}",
  ],
  ['我(?:叫|是)[\\p{Script=Han}]{2,3}(?![\\p{Script=Han}])'],
  flags,
);

const NUMERIC = /^[.,:/\-+#]*\d[\p{L}\d.,:/\-+#]*$/u;
const SMALL_ANSWER = anyOf(
  [
    "(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|today|tomorrow|tonight|yesterday|(?:next|this|last) (?:week|month|year|weekend|\\w+day)|noon|midnight|morning|afternoon|evening|am|pm|o'clock",
    'zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|first|second|third|last|double|single|triple|dash|dot|at|point',
    'small|medium|large|regular|extra|none|neither|both|same|that one|this one|the (?:first|second|third|last|other|cheapest|former|latter)(?: one)?|people|persons?|nights?|days?|hours?|minutes?|weeks?|usd|dollars?|euros?|pounds?',
    'lunedi|martedi|mercoledi|giovedi|venerdi|sabato|domenica|oggi|domani|segunda[- ]feira|terca[- ]feira|quarta[- ]feira|quinta[- ]feira|sexta[- ]feira|hoje|amanha|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag|vandaag|poniedzialek|wtorek|sroda|srode|czwartek|piatek|sobota|sobote|niedziela|niedziele|dzis|dzisiaj|jutro|понедельник|вторник|среда|среду|четверг|пятница|пятницу|суббота|субботу|воскресенье|сегодня|завтра|pazartesi|sali|carsamba|persembe|cuma|cumartesi|pazar|bugun|yarin',
    'enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|janvier|fevrier|mars|avril|mai|juin|juillet|aout|septembre|octobre|novembre|decembre|januar|februar|marz|april|juni|juli|august|oktober|dezember|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre|janeiro|fevereiro|maio|setembro|outubro|dezembro',
    "lunes|martes|miercoles|jueves|viernes|sabado|domingo|hoy|manana|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|aujourd'hui|demain|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|heute|morgen",
  ],
  [],
  flags,
);

const SIGN_OFFS = new FoldedPhrases(LEXICON.signOffs);
/** The line that a program for mail adds. */
const SENT_FROM = new RegExp(`^\\P{L}*(?:${alternatives(LEXICON.sentFrom.all.map(fold))})`, 'u');
const SENT_FROM_WORDS = 10;
/** UTF-16 units: what is longer is neither an id nor the end of a letter. */
const MOST_OF_LINE = 60;
const ADDRESS = /(?<!\S)[^\s@]{1,64}@[^\s@]{1,64}|(?<!\S)https?:\/\/\S{1,200}/gu;

function withoutAddress(folded: string): string {
  return folded.includes('@') || folded.includes('//') ? folded.replace(ADDRESS, ' ') : folded;
}

/**
 * A folded sentence without greetings, thanks, confirmations, small talk, complaints about the answer
 * and personal data; what it leaves is what the sentence is about. May be empty.
 */
export function substanceOf(folded: string): string {
  return withoutAddress(folded)
    .replace(WORKS_NOW, ' ')
    .replace(COURTESY, ' ')
    .replace(SMALL_TALK, ' ')
    .replace(ABOUT_THE_ANSWER, ' ')
    .replace(PERSONAL, ' ');
}

/** Whether a folded sentence is an id, or the line that a program for mail adds. */
export function isId(folded: string): boolean {
  if (folded.length > MOST_OF_LINE) return false;
  const words = foldedWordsOf(folded);
  // "ORD-5512-X" is one word to whoever writes it.
  const longest = folded.includes(' ') ? 2 : 3;
  const digits = words.join('').replace(/\P{N}+/gu, '').length;
  return digits > 2 && words.every((word) => /\p{N}/u.test(word) || word.length <= longest);
}

/** Whether a folded sentence is the line that a program for mail adds. */
export function isSentFrom(folded: string): boolean {
  return SENT_FROM.test(folded) && wordCount(folded) <= SENT_FROM_WORDS;
}

const REACTIONS = new FoldedPhrases(LEXICON.reactions, '(?! to )');
const FILLERS: ReadonlySet<string> = new Set(LEXICON.reactionFillers.all.map(fold));
const UNSPACED_FILLERS = new RegExp(alternatives(LEXICON.reactionFillers.unspaced.map(fold)), flags);

/**
 * Whether a folded sentence only says how something went or how one feels about it, and names nothing: "I already
 * tried that, still not working". "My router is still not working" names something.
 */
export function isReaction(folded: string, words: readonly string[] = foldedWordsOf(folded)): boolean {
  const rest = REACTIONS.without(folded, words);
  if (rest === folded) return false;
  const named = substanceOf(rest).replace(SMALL_ANSWER, ' ').replace(UNSPACED_FILLERS, ' ');
  return foldedWordsOf(named).every(
    (word) => isFoldedStopWord(word) || FILLERS.has(word) || NUMERIC.test(word),
  );
}

/** What requests to the assistant about itself are called, of a folded sentence that is nothing else; or null. */
export function aboutAssistantTopic(
  folded: string,
  words: readonly string[] = foldedWordsOf(folded),
): string | null {
  const asked = askedOfAssistant(folded, words);
  return asked !== null && contentOf(asked.rest) === 0 ? asked.topic : null;
}

/** Whether a folded sentence closes a letter, with or without a name. */
export function isSignOff(folded: string, words: readonly string[] = foldedWordsOf(folded)): boolean {
  if (folded.length > MOST_OF_LINE) return false;
  const rest = SIGN_OFFS.without(folded, words);
  return rest !== folded && wordCount(rest) <= MOST_OF_NAME;
}
const MOST_OF_NAME = 4;

const INTRODUCTION =
  /^(?:(?:[Hh](?:i|ello|ey)|[Aa]nd|[Yy]es|[Oo]k(?:ay)?),? )?(?:[Ii](?:'m|’m| am|m)|[Tt]his is|[Ii]t(?:'s|’s| is)|[Ss]oy|[Jj]e suis|[Cc]'est|[Ss]ono|[Ss]ou|[Ii]k ben|[Hh]ier ist) \p{Lu}\p{Ll}+(?: (?:de |van |von |el |la )?\p{Lu}[\p{L}'’-]+){0,3}[.! ]*$/u;

/** Whether a sentence, as written, only says who speaks. */
export function isIntroduction(sentence: string): boolean {
  return INTRODUCTION.test(sentence);
}

/**
 * How much a folded sentence says: the number of its words that are neither stop words, numbers, dates
 * nor courtesies. Zero: nothing that could have a topic.
 */
export function contentOf(folded: string): number {
  const substance = substanceOf(folded).replace(SMALL_ANSWER, ' ');
  let count = 0;
  for (const word of foldedWordsOf(substance)) {
    if (isFoldedStopWord(word) || NUMERIC.test(word)) continue;
    count += wordCount(word) > 1 ? wordCount(word) : word.length > 1 || word > '\u02ff' ? 1 : 0;
  }
  return count;
}
