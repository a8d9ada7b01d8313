/**
 * What a user must say for each satisfaction signal. Precision before recall: a complaint seen in an ordinary request
 * does more harm than one overlooked, and the absence of a complaint is not satisfaction.
 * Covered by test/enrich/signals.test.ts.
 */
import type { SignalKey } from '../domain/signal-kinds.ts';
import { anyOf } from '../language/patterns.ts';

export interface Rule {
  readonly key: SignalKey;
  /** On a folded sentence. */
  readonly says: RegExp;
  /** On the same sentence: when it matches, the rule is silent. */
  readonly unless?: RegExp;
  /** Silent in questions. */
  readonly notInQuestions?: boolean;
  /** Only where the sentence asks for nothing: in longer ones the words mean something else. */
  readonly maxWords?: number;
}

const VERY =
  '(?:so |very |really |quite |truly |absolutely |just |pretty |extremely |super |all |too |most |simply |totally |completely |such |definitely |exactly )*';
const GOOD =
  '(?:great|perfect|excellent|awesome|amazing|wonderful|fantastic|brilliant|lovely|superb|splendid|terrific|fabulous|outstanding|marvell?ous)';
const NEGATED = anyOf([
  "not|n't|never|no|isn't|wasn't|don't|doesn't|didn't|hardly|without|would be|would've been|if|could be|hope",
]);

export const RULES: readonly Rule[] = [
  {
    key: 'gratitude',
    says: anyOf(
      [
        'thank(?:s|ing)?(?: you| u| ya| god)?|thankyou|thanx|thx|tysm|tnx|ty|cheers|(?:i |we )?(?:really |greatly |highly |do |truly |much )*appreciate(?:d)? (?:it|that|this|you|your|the|all)|much appreciated|(?:so|very|really) (?:grateful|thankful)|grateful (?:to|for)',
        'gracias|te lo agradezco|se lo agradezco|obrigad[oa]|valeu|agradeco|merci|je vous remercie|je te remercie|danke(?:schon)?|dankeschon|vielen dank|besten dank|ich danke|grazie|ti ringrazio|la ringrazio|bedankt|dank (?:je|u)|dziekuje|dzieki|спасибо|благодарю|дякую|tesekkur(?:ler)?|sag ?olun?|^tack(?: sa mycket)?(?= *[.!,]| *$)|tusen takk|^takk|mange tak|kiitos|dekuji|diky|multumesc|mersi|terima kasih|cam on|ευχαριστω|شكرا|ممنون|مرسی|متشکرم|תודה|धन्यवाद|शुक्रिया|hvala|koszi|koszonom|salamat',
      ],
      ['谢谢|多谢|感谢|谢啦|谢了|謝謝|ありがとう|助かりました|助かります|感謝|감사|고마워|고맙|ขอบคุณ'],
    ),
    unless: anyOf(
      [
        "(?:no|nope|nah|not? now|not right now)[, ]+(?:but )?(?:thanks?|thank you|gracias|merci|danke|grazie|obrigad[oa]|bedankt|dank je)(?! (?:so|very|for|a lot))(?=[.! ]*(?:$|(?:but|i) ))|thanks? for nothing|in advance|appreciate (?:it|that|this) (?:if|very much if|when)|(?:would|'d) (?:really |greatly |much |very much )*appreciate|no,? gracias|non,? merci|nein,? danke|no,? grazie|nao,? obrigad[oa]|nee,? (?:bedankt|dank)|par avance|d'avance|de antemano|por adelantado|im voraus|in anticipo|thank god|thanks but no|por nada",
      ],
      ['不用(?:了)?,?谢|結構です|괜찮'],
    ),
  },
  {
    key: 'praise',
    says: anyOf(
      [
        `(?:that|this|it|which|everything|all|what you \\w+)(?:'s| is| was| sounds| looks| seems| would be)? ${VERY}(?:a |an )?${GOOD}|(?:that|this|it|all of that)(?:'s| is| was) ${VERY}(?:helpful|useful|impressive|kind of you|nice of you)|sounds? ${VERY}(?:good|great|perfect|excellent|awesome|amazing|wonderful|fantastic|lovely|nice)|looks? ${VERY}${GOOD}`,
        `${GOOD} (?:job|work|service|answer|help|suggestions?|ideas?|advice|recommendations?|choice|assistant|bot|response|explanation|news|stuff)|(?:good|nice|great) (?:job|work|bot|answer|explanation)|well done|kudos|bravo`,
        `you(?:'re| are|'ve been| have been| were| r) ${VERY}(?:a |an |the |my )?(?:great |big |huge |real |very |most )?(?:helpful|great|awesome|amazing|wonderful|best|kind|help|lifesaver|life ?saver|star|genius|doll|legend|smart|sweet|sweetheart|fantastic|excellent|brilliant|so good|angel|hero|gem|delight)`,
        `^(?:oh |wow |ok(?:ay)? |yes |yeah |well )*[, ]*${VERY}${GOOD}(?=[!.,]| *$)|^(?:love it|i (?:really )?(?:love|like) (?:it|that|this|your (?:answer|suggestion|idea|help)))|(?:very|really|so|most|super|extremely) helpful|(?:great|big|huge|real) help|exactly what i (?:was looking for|need(?:ed)?|wanted|was after)`,
        '(?:muy |es |eres |esta |que |tan )(?:util|amable|bueno|buena|bien hecho|genial|excelente|perfecto|perfecta|increible)|^(?:perfecto|genial|excelente|estupendo|fantastico|maravilloso|buenisimo|otimo|perfeito|maravilha|incrivel)(?=[!.,]| *$)|buen trabajo|bom trabalho|muito (?:bom|boa|util|bem)|me ha ayudado mucho|ajudou muito',
        "^(?:parfait|genial|excellent|super|formidable|magnifique|fantastique)(?=[!.,]| *$)|(?:c'est|c'etait) (?:tres |vraiment )?(?:parfait|genial|super|utile|excellent|formidable)|bon travail|tres (?:utile|bien|gentil)|^(?:perfetto|ottimo|eccellente|fantastico|bravissimo|bravo|meraviglioso)(?=[!.,]| *$)|(?:molto|sei stato molto) (?:utile|gentile|bravo)|ottimo lavoro|bel lavoro",
        '^(?:perfekt|super|toll|prima|wunderbar|ausgezeichnet|klasse|fantastisch|hervorragend|geweldig|uitstekend|perfect)(?=[!.,]| *$)|(?:das|dat|es|het) (?:ist|war|is|was) (?:wirklich |sehr |echt |heel )?(?:hilfreich|super|toll|perfekt|wunderbar|geweldig|handig|nuttig)|gute arbeit|sehr hilfreich|goed gedaan|heel (?:behulpzaam|handig)|^(?:swietnie|doskonale|wspaniale|super|idealnie|отлично|прекрасно|замечательно|великолепно|супер|здорово|идеально)(?=[!.,]| *$)|bardzo (?:pomocne|dobrze|przydatne)|очень (?:полезно|хорошо|помогли)',
      ],
      [
        '太好了|太棒了|真棒|很棒|很好[用！。]|非常好|真不错|很有(?:用|帮助)|你真(?:好|棒|厉害)|素晴らしい|すごい|完璧|最高|とても役に立|훌륭|완벽|최고|좋아요!|정말 좋',
      ],
    ),
    unless: NEGATED,
    notInQuestions: true,
  },
  {
    key: 'problem-solved',
    says: anyOf(
      [
        "(?:that|this|it|your (?:answer|solution|suggestion|fix|advice))(?:'s| has| have)? (?:just |really |finally |already |totally )*(?:solved|fixed|resolved|worked|helped|sorted|did the trick|cleared)|(?:it|that|this|everything)(?:'s| is)? (?:finally |now |all )*(?:working|works|fixed|solved|resolved|sorted)(?: (?:now|again|perfectly|fine|great|like a charm))|(?:^|[,.!] ?|and |yes |yay )(?:it|that) (?:works|worked)(?= *(?:!|\\.|,|$|now|great|perfectly))|(?:problem|issue|error|mystery)(?:'s| is| has been)? (?:now )?(?:solved|resolved|fixed|gone)|(?:got|have) it (?:working|to work)|did the trick|(?:that|this|it) (?:helps|helped)(?: (?:a lot|so much|me|immensely|tremendously))|(?:solved|fixed) it(?: now)?(?= *[!.]|$)|that answers my question|you(?:'ve| have)? (?:answered|solved|fixed) (?:my|the|all)",
        "(?:ya |ahora )(?:funciona|esta (?:solucionado|resuelto|arreglado))|problema (?:resuelto|solucionado|resolvido)|(?:lo|se) (?:resolvio|soluciono|arreglo)|(?:agora|ja) (?:funciona|esta funcionando)|funcionou|resolveu|ca (?:marche|fonctionne)(?: (?:maintenant|parfaitement))|probleme (?:resolu|regle)|c'est (?:resolu|regle)|jetzt (?:funktioniert|geht|klappt) es|(?:es|das) (?:funktioniert|klappt|geht) jetzt|(?:das |)problem (?:ist )?(?:gelost|behoben)|hat (?:mir )?(?:sehr )?geholfen|(?:ora|adesso) funziona|(?:ha )?risolto|het werkt(?: nu)?|(?:is|het is) opgelost|(?:juz|teraz) dziala|rozwiazan[ey]|(?:теперь |всё |все )(?:работает|получилось)|проблема решена|помогло",
      ],
      [
        '解决了|好了,?谢|可以用了|成功了|解決しました|直りました|できました|うまくいきました|해결됐|해결되었|잘\\s?됩니다|됐어요',
      ],
    ),
    unless: anyOf(
      [
        "not|n't|never|still|doesn't|didn't|isn't|please|get (?:this|it)|how|if|whether|nothing|until|hope|no|nicht|pas|nao|non|niet|nie|не|when|before",
      ],
      ['没|不|未|ない|ません'],
    ),
    notInQuestions: true,
  },
  {
    key: 'positive-closing',
    says: anyOf(
      [
        "(?:that(?:'s| is| was| will be|'ll be| would be| should be| does it)|thats|this is|i think (?:that's|that is|that will be)) (?:about |pretty much |really |actually )?(?:all|everything|it)(?:(?: for)? (?:now|today))*(?: (?:that )?i (?:'ll |will |have |had |'ve )?(?:need|needed|wanted|got|require)(?: (?:to know|for (?:now|today)|today|now|help with|from you))*)?(?=[\\s.,!]*(?:$|thank|thx|bye|good|have|for (?:now|today|me)|then|cheers|you))|(?:that (?:will be|'ll be) all)|all i (?:need|needed)(?: (?:for )?(?:now|today))?|(?:no,? )?nothing (?:else|more)(?: (?:for )?(?:now|today|at the moment))?(?=[\\s.,!]*(?:$|thank))|(?:i'm|i am|we're|we are) (?:all )?(?:set|good to go|good now)|all (?:set|good)(?= *[.,!]| *$| thank| now)|(?:i )?(?:don't|do not) need anything (?:else|more)|have (?:a |an )?(?:\\w+ )?(?:good|great|nice|lovely|wonderful|amazing|awesome|fantastic|blessed|beautiful|pleasant) (?:\\w+ )?(?:day|one|evening|night|weekend|afternoon|time|week|rest of)|enjoy your (?:day|evening|weekend)|you(?:'ve| have) a (?:good|great|nice) (?:day|one|evening|night)",
        "(?:eso|es) (?:es )?todo(?:,? gracias)?(?= *[.,!]| *$)|nada mas(?=,? gracias| *[.!]| *$)|que tenga[s]? (?:un )?(?:buen|buena|lindo) \\p{L}+|(?:e |isso e )(?:so isso|tudo)|so isso|mais nada|tenha (?:um |uma )?(?:bom|boa|otimo) \\p{L}+|c'est tout(?= *[.,!]| *$|,? merci)|(?:ce sera|rien d'autre|bonne (?:journee|soiree|continuation))|das (?:ist|war|ware) (?:dann )?alles|das war'?s|(?:einen )?schonen (?:tag|abend)(?: noch)?|schones wochenende|(?:e |questo e )tutto(?= *[.,!]| *$)|nient'altro|buona (?:giornata|serata)|dat (?:is|was) (?:het|alles)|fijne (?:dag|avond)|prettige dag|to (?:juz )?wszystko|milego (?:dnia|wieczoru)|(?:это|на этом) (?:все|всё)|больше (?:ничего|вопросов)|(?:хорошего|удачного) (?:дня|вечера)|iyi gunler|ha en (?:bra|fin|trevlig) (?:dag|kvall)",
      ],
      [
        '没有?(?:别的|其他)(?:了|问题|需要)|没有问题了|没有了[,，]?谢|就这些了?|祝(?:你|您)|以上です|もう大丈夫です|良い一日を|좋은\\s?하루|이상입니다|없습니다,?\\s?감사',
      ],
    ),
    unless: anyOf([
      "is that (?:all|it|everything)|that's (?:all|it) you|not all|all wrong|that's all (?:you|it|i get)",
    ]),
    notInQuestions: true,
  },
  {
    key: 'acknowledgement',
    says: anyOf(
      [
        "(?:^|[,.!] |ah+,? |oh+,? |ok(?:ay)?,? |yes,? )(?:i see(?: now)?|got it|gotcha|understood|i (?:now |finally )?(?:understand|get it)(?: now| better)?|noted)(?= *[.,!]| *$| thank| now)|(?:that|it|this|now it|that all) (?:all |now |really |totally )?makes (?:\\w+ )?sense(?: now)?|makes sense|(?:good|nice|great|useful) to know|(?:i )?(?:did not|didn't|never) (?:know|knew|realize|realise) that|that (?:explains|clears|clarifies)(?: (?:it|that|things|everything|a lot|up))*|(?:i )?(?:learned|learnt) (?:something|a lot|so much)|(?:very |that's |that is |how |really )+(?:interesting|informative|fascinating|enlightening)|that is clear|(?:crystal |all |that's )clear(?: now)?(?= *[.,!]|$)|now i (?:know|understand|get it|see)",
        "(?:ah|ok|vale|ya)?,? ?(?:ya )?(?:entiendo|entendido|comprendo|comprendido|lo entiendo)(?= *[.,!]| *$| gracias)|tiene sentido|(?:es )?bueno saberlo|no (?:lo )?sabia|(?:agora )?entendi(?: agora)?(?= *[.,!]| *$| obrigad)|faz sentido|bom saber|(?:je (?:vois|comprends)(?: mieux| maintenant)?|j'ai compris|compris)(?= *[.,!]| *$| merci)|c'est (?:clair|plus clair|logique)|bon a savoir|je ne savais pas|(?:ich )?verstehe(?: jetzt)?(?= *[.,!]| *$| danke)|(?:ach so|alles klar|verstanden)(?= *[.,!]| *$)|das (?:macht sinn|ergibt sinn|erklart)|gut zu wissen|das wusste ich nicht|(?:ho )?capito(?= *[.,!]| *$| grazie)|ha senso|buono a sapersi|non lo sapevo|(?:ik )?(?:begrijp|snap) het(?= *[.,!]| *$)|(?:begrepen|duidelijk)(?= *[.,!]| *$)|goed om te weten|dat wist ik niet|(?:rozumiem|zrozumialem|zrozumialam|jasne)(?= *[.,!]| *$)|to ma sens|dobrze wiedziec|nie wiedzial[ae]m|(?:понятно|понял|поняла|ясно|теперь понятно)(?= *[.,!]| *$| спасибо)|буду знать|не знал[а]?",
      ],
      [
        '明白了|懂了|原来如此|了解了|我知道了|知道了|学到了|なるほど|そうなんですね|分かりました|わかりました|勉強になり|그렇군요|알겠습니다|이해했',
      ],
    ),
    unless: anyOf(
      [
        "(?:not|n't|don't|didn't|doesn't) (?:make|understand|get it|see)|no sense|no entiendo|non capisco|nicht|ne comprends",
      ],
      ['没明白|不明白|没懂|不懂'],
    ),
    notInQuestions: true,
  },
  {
    key: 'negative-feedback',
    says: anyOf(
      [
        "(?:that|this|it|which|your (?:answer|reply|response|advice|suggestion|solution|help|explanation)s?)(?:'s| is| was| are| were|'re)? (?:just |really |still |also |absolutely |completely |totally |so |very )*(?:isn't|not|wasn't|aren't|n't) (?:at all |very |really |even |that |particularly |too |so )*(?:helpful|useful|helping|good|great|acceptable|satisfactory|enough|what i expected|an answer|a (?:good|real|proper|helpful|useful) (?:answer|solution))|(?:isn't|wasn't|not) (?:very |really |at all |even |that |of any )*(?:helpful|useful|help)|(?:that|this|your (?:answer|solution|suggestion|advice))(?:'s| has)? (?:did not|didn't|does not|doesn't|has not|hasn't|won't|will not|wouldn't) (?:really |even |actually |at all )*(?:help|work|answer|solve|fix|make (?:any )?sense)",
        "(?:that(?:'s| is| was)|this is|what an?|such an?|very|really|absolutely|your) (?:an? |the |absolutely |really |very |completely |so )*(?:bad|terrible|awful|horrible|poor|lousy|useless|worthless|crappy|pathetic|unhelpful|disappointing|rubbish|garbage|nonsense) (?:answers?|advice|responses?|service|help|suggestions?|recommendations?|assistants?|bots?|experience|explanations?|customer service|support|job|ideas?)|(?:that|this|your (?:answer|response|service)|you)(?:'s| is| was|'re| are) (?:just |really |so |absolutely |completely |totally |very |pretty )*(?:useless|unhelpful|worthless|pointless|rubbish|garbage|nonsense|disappointing|not (?:any|much) help|no (?:help|use|good))|(?:i'm|i am|we're|we are|i was) (?:still |really |very |so |quite |extremely |just |also )*(?:not (?:happy|satisfied|pleased|impressed)|unhappy|dissatisfied|disappointed|unsatisfied) (?:with|by|about|in)(?: (?:your|this|that|the (?:answer|service|help|response|options?|result)))|(?:i'm|i am) (?:still |really |very )*(?:not satisfied|disappointed|unsatisfied)(?= *[.,!]|$)|you(?:'re| are| were|'ve been| have been)? (?:not|n't|no|aren't|weren't) (?:being |very |really |at all |any |much |of any )*(?:helping|helpful|help|useful)|you (?:are|were) (?:really )?unhelpful|(?:did not|didn't|does not|doesn't|hasn't|has not) help(?: me)?(?: at all| one bit)?(?= *[.,!]|$)|useless(?= *[!.]|$)|(?:i )?(?:don't|do not|didn't) (?:like|love) (?:that|this|it|your|any of (?:them|those|these))(?: (?:answer|idea|suggestion|option|one))?(?= *[.,!]|$)|(?:that(?:'s| is)|oh) (?:too bad|a shame|not good|bad news|unfortunate)|bummer",
        '(?:eso|esto|su respuesta|tu respuesta)? ?no (?:me )?(?:ayuda|ayudo|sirve|sirvio|ha ayudado|es util|fue util|resuelve)(?: (?:nada|de nada|para nada|mucho))?(?= *[.,!]|$)|(?:respuesta|servicio|ayuda) (?:muy |tan )?(?:mal[ao]|pesim[ao]|terrible|inutil)|(?:que )?(?:mal|pesimo|terrible) (?:servicio|respuesta)|nao (?:me )?(?:ajuda|ajudou|serve|adianta|e util|foi util|resolveu)(?= *[.,!]|$| nada)|(?:resposta|servico|atendimento) (?:muito )?(?:ruim|pessim[ao]|horrivel)',
        "(?:ca|cela) ne (?:m')?(?:aide|sert|a pas aide|marche|resout)(?: a)? (?:pas|rien)|(?:pas|peu) (?:du tout )?utile|(?:reponse|service) (?:nul(?:le)?|inutile|mauvais[e]?)|mauvaise reponse|(?:hilft|nutzt|bringt|half) (?:mir|uns) (?:leider |aber )?(?:gar |uberhaupt |auch )?(?:nicht|nichts|kein bisschen)|(?:das|es) (?:hilft|hat|nutzt|bringt) (?:mir |uns )?(?:gar |uberhaupt |leider )?(?:nicht|nichts)(?: (?:weiter|geholfen))?|(?:nicht|wenig) hilfreich|schlechte[r]? (?:antwort|service|hilfe)|non (?:mi )?(?:aiuta|serve|e utile|ha aiutato|e di aiuto)(?: a niente| per niente)?|(?:pessim[oa]|cattiv[oa]) (?:risposta|servizio)|(?:dat|dit) (?:helpt|hielp) (?:me |mij )?(?:niet|helemaal niet)|(?:niet|weinig) (?:nuttig|behulpzaam|handig)|slecht(?:e)? (?:antwoord|service)|to (?:mi )?nie (?:pomaga|pomoglo)|(?:bezuzyteczn[ea]|slaba odpowiedz|kiepska)|(?:это )?не (?:помогло|помогает|помогли)|бесполезно|плохой ответ|ужасн(?:ый|ое) (?:ответ|обслуживание|сервис)",
        "^(?:but |and |yes,? |well,? )*(?:i|we)(?:'ve| have)? (?:already |just )*(?:did|done|tried|checked) (?:that|this|it|so|all (?:that|of that|this))(?= *[.!,]|$| already| twice| and| but| several| many| \\d)|(?:already|just) (?:did|done|tried|checked) (?:that|this|it|all (?:that|of that))|^(?:no,? |nope,? |but |and |it's |it is |yes,? )*still (?:not|no|nothing|the same|declined|fail\\p{L}*|broken|invalid|wrong|doesn't|does not|isn't|locked|refused|rejected|empty)|(?:it|that) still (?:doesn't|does not|isn't|is not|won't|will not|didn't|did not|can't) (?:work|help|open|load|show|go)",
        "ya lo (?:hice|he hecho|intente|he intentado|probe|he probado)|(?:eso |esto )?(?:sigue|continua) (?:igual|sin funcionar|sin ir)|(?:isso|eu) ja (?:fiz|tentei)|ja (?:fiz|tentei) isso|continua (?:na mesma|igual|sem funcionar)|je l'ai deja (?:fait|essaye)|(?:c'est )?deja (?:fait|essaye)(?= *[.!,]|$)|(?:ca|cela) ne (?:marche|fonctionne) toujours pas|(?:das )?hab(?:e)? ich (?:doch )?(?:schon|bereits|alles schon) (?:gemacht|versucht|probiert|getan)|(?:es|das) (?:geht|funktioniert|klappt) (?:aber |leider )?(?:immer noch|noch immer|trotzdem|weiterhin) nicht|l'ho gia (?:fatto|provato)|gia (?:fatto|provato)(?= *[.!,]|$)|non funziona ancora|dat heb ik al (?:gedaan|geprobeerd)|(?:het|dat) werkt (?:nog steeds|nog altijd) niet|juz to (?:zrobil|probowal|robil)\\p{L}*|to (?:nadal|wciaz) nie dziala|я (?:это )?уже (?:делал|пробовал|сделал|пробовала|делала|сделала)|(?:это )?(?:вс[её] (?:ещ[её]|равно)|по-прежнему) не (?:работает|помогает|получается)|(?:bunu )?zaten (?:yaptim|denedim)|hala (?:ayni|calismiyor|olmuyor|olmadi)",
        "(?:a bit|a little|very|really|so|how|quite|rather|pretty|extremely|deeply|that's|that is|it's|it is|this is) (?:\\p{L}+ )?disappointing|^disappointing|(?:not|hardly|un)[ -]?impressed|what a (?:shame|pity|disappointment|let-?down|hassle|nuisance)|^(?:so |well |ok(?:ay)?,? |really |that's |this is )*not (?:cool|acceptable|fair|good enough)(?= *[.!,]|$)|what am i supposed to do(?: now| then)?(?= *[.!?]|$)|^(?:ok(?:ay)?,? |well,? |so |then )+what can you (?:even |actually )?do(?= *[.!?]|$)|what can you (?:even|actually) do|you (?:don't|do not|clearly don't) (?:really )?know (?:much|anything|a thing)|you know nothing",
        "que (?:lata|fastidio|decepcion|pena|decepcao|chato|chatice|delusione)|(?:muy |tan |que |es )decepcionante|(?:muito |tao |e )decepcionante|che (?:delusione|peccato)|(?:molto |che |e )deludente|quel(?:le)? (?:deception|dommage)|(?:c'est |tres |vraiment |plutot )(?:decevant|dommage|complique)|^dommage|(?:das ist |ist )(?:ja |doch |aber |sehr |wirklich |echt )*(?:enttauschend|umstandlich|argerlich|schade|muhsam)|^(?:wie )?(?:schade|enttauschend|argerlich)|(?:wat |erg |heel )(?:jammer|teleurstellend|omslachtig)|^jammer|(?:szkoda|rozczarowujace)(?= *[.!,]|$)|(?:очень |как |это )(?:жаль|обидно)|разочаров\\p{L}+|(?:cok )?(?:hayal kirikligi|yazik|uzucu)|ise yaramad[ia]|yardimci olmad[ia]|hic (?:yardimci|faydali) (?:olmad\\p{L}+|degil)",
      ],
      [
        '没(?:有)?(?:用|帮助)|不(?:满意|好用)|没帮上|太差|很差|糟糕|帮不上|役に立(?:たない|ちません|たなかった)|参考にならない|ひどい(?:回答|対応)|도움이\\s?(?:안|되지)|별로(?:예요|네요|입니다)|쓸모없|(?:太|真|好|这么)麻烦|(?:很|太|真|非常|挺)?失望|(?:太|真)(?:遗憾|可惜)|还是(?:不行|失败|不能|没用|没有用|老样子)|(?:已经|都)?试过了|残念(?:です|だ|すぎ)|がっかり|まだ(?:でき(?:ない|ません)|だめ|ダメ|駄目|同じ)|もう(?:やりました|試しました)|不便(?:です|すぎ)|실망',
      ],
    ),
    notInQuestions: true,
  },
  {
    key: 'correction',
    says: anyOf(
      [
        "(?:that|this|it)?(?:'s| is| was)?(?: \\w+)? ?(?:not|isn't|wasn't) (?:at all )?(?:what|the \\w+|the one) (?:that )?(?:i|we)(?:'m| am| was|'d| had| have|'ve)? (?:\\w+ )?(?:asked|asking|meant|mean|said|saying|wanted|want|requested|ordered|looking|need|needed|had in mind)|(?:that|this|it|you) (?:did not|didn't|does not|doesn't|don't|do not|have not|haven't|hasn't|never) (?:even |really |actually )?(?:answer(?:ed)?|address(?:ed)?) (?:my|the|what|it|anything)|you(?:'ve| have)? (?:misunderst\\w+|misread|misheard|missed the point|got (?:it|that|me) wrong|mixed (?:it|that|them) up|confused)|you(?:'re| are)? (?:not|n't|aren't|don't|do not|didn't|did not|clearly don't) (?:understand(?:ing)?|listen(?:ing)?(?: to)?|get(?:ting)?|answering|following) (?:me|my|what|the question|it|to me)?|you(?:'re| are) not listening|(?:i|we) (?:never|did not|didn't) (?:say|said|ask(?:ed)?(?: for)?|want(?:ed)?|mean) (?:that|this|it|you)(?= *[.,!]|$)|(?:that|this)(?:'s| is) (?:not )?(?:the )?wrong (?:one|order|item|date|day|time|place|person|city|name|number|address|account|question|movie|restaurant|hotel)|(?:i|we) (?:said|meant) [^.]{2,60},? not \\p{L}+|what i (?:meant|asked|said|wanted|was asking)(?: \\w+){0,3} (?:was|is)|(?:^|[,.] )(?:no[,. ]+)?(?:but |sorry |actually )*i (?:meant|was asking (?:about|for|if|how|what|whether)|was talking about|asked (?:you )?(?:about|if|how|what|when|where|why|who|whether))|(?:no|but|sorry|actually)[,. ]+i asked (?:you )?for|wrong (?:answer|question)|answer (?:my|the) (?:question|actual question)|you messed up",
        "^(?:no|nope|nah|negative|wrong|incorrect)[,.! ]+(?:that(?:'s| is) (?:not |wrong|incorrect)[^.]{0,20}[,. ]+)?(?:sorry[, ]+|actually[, ]+|but )*(?:i|we)(?:'d| would)? (?:really |actually |said |also )*(?:need(?:ed)?|want(?:ed)?|meant|said|would like|like|would prefer|prefer|'d rather|rather|am looking|was looking|'m looking|asked|requested|live|am|was) (?!(?:nothing|no |to thank|not? any|more info|you to have|some time|just|only|to think))|^(?:no|nope|negative)[,. ]+(?:it|that|the \\p{L}+(?: \\p{L}+)?|my \\p{L}+(?: \\p{L}+)?|they|there)(?:'s| is| are| should be| needs to be| must be| will be| was)(?! (?:all|it|everything|fine|ok|okay|good|great|perfect|enough|no |nothing|not? (?:necessary|needed|a problem|important)))|^(?:no|nope|negative)[,. ]+(?:please )?(?:make (?:it|that)|change (?:it|that|the)|find (?:me )?(?:some |an)?other|try|play|show (?:me )?(?:some |an)?other|look for|search for) |^(?:no|nope)[,. ][^?]{2,60} instead(?= *[.!,]|$)",
        "(?:eso )?no es (?:eso )?lo que (?:pedi|pregunte|queria|dije|busco|necesito)|no (?:me )?(?:has |ha |me has |me ha )?(?:entendido|entiendes|entiende|contestado|respondido|contesta|responde)(?: (?:a )?(?:mi|la) pregunta)?(?= *[.,!]|$)|(?:yo )?(?:pedi|pregunte|queria decir|me referia)|(?:isso )?nao (?:e|foi) (?:isso )?(?:o )?que (?:eu )?(?:pedi|perguntei|queria|disse)|nao foi isso|voce nao (?:me )?(?:entendeu|respondeu)|(?:ce n'est|c'est) pas ce que (?:j'ai|je) (?:demande|dit|voulais|veux|cherche)\\p{L}*|vous (?:n'avez pas|ne) (?:compris|repond\\p{L}+|comprenez)(?: pas)?|je (?:parlais de|voulais dire|demandais)|(?:das )?(?:ist|war|habe ich) nicht (?:das,? )?was ich (?:gefragt|gemeint|wollte|gesucht|gesagt)|(?:danach|das) habe ich nicht gefragt|sie haben mich (?:falsch|nicht) verstanden|du hast mich (?:falsch|nicht) verstanden|ich meinte|non (?:e|era) quello che (?:ho |)(?:chiesto|intendevo|volevo|cercavo|detto)|non hai (?:capito|risposto)|non ha (?:capito|risposto)|intendevo|dat (?:is|was) niet wat ik (?:vroeg|bedoelde|wil|wilde|zocht)|(?:u|je) begrijpt (?:me|mij|het) niet|ik bedoelde?|nie o to (?:pytalem|pytalam|mi chodzilo|prosilem)|nie zrozumial\\p{L}+|chodzilo mi o|(?:это )?не то,? что я (?:спрашивал|просил|хотел|имел)[а]?|я (?:спрашивал|имел в виду|не об этом|просил)[а]?|вы (?:меня )?не (?:поняли|ответили)",
        "(?:that|this)(?:'s| is| was|) ?(?:not|isn't|wasn't) (?:my question|an answer to my question|the question)|(?:das |dies )?(?:war|ist) (?:gar |doch |aber )*nicht meine frage|ce n'(?:est|etait) pas (?:du tout )?ma question|(?:esa |eso )?no (?:es|era|fue) (?:esa )?mi pregunta|nao (?:e|era|foi) (?:essa |isso )?(?:a )?minha pergunta|non (?:e|era) (?:questa |quella )?la mia domanda|dat (?:is|was) (?:niet mijn|mijn) vraag niet|dat (?:is|was) niet mijn vraag|nie (?:o to|to bylo) (?:pytal\\p{L}*|moje pytanie)|(?:это )?не (?:об? )?(?:этом|том) (?:я )?(?:спрашивал|просил)\\p{L}*|(?:sorum|soyledigim|istedigim|demek istedigim) bu degil(?:di)?|(?:bunu|onu) (?:sormadim|istemedim|demedim)|(?:beni )?yanlis anladi\\p{L}*",
      ],
      [
        '不是(?:这个|这样|问这|我(?:要|想|问)的|我的意思)|我(?:问|说|要|指)的(?:是|不是)|答非所问|没(?:有)?(?:听懂|理解|回答)|误会了|理解错|そうじゃな(?:い|く)|そういう(?:意味|こと)(?:では|じゃ)|聞いているのは|質問に答えて|違います|그게\\s?아니|제\\s?말은|질문에\\s?답|我不是问|没问这个|不是我(?:要|想|问)|質問(?:と違|に答えてい)|そうは(?:言って|聞いて)いません',
      ],
    ),
    notInQuestions: true,
  },
  {
    key: 'factual-error',
    says: anyOf(
      [
        "(?:that|this|it|which|what you said)(?:'s| is| was| are| isn't| wasn't|'re)(?: just| simply| completely| totally| factually| absolutely| still| also| actually| really| clearly| obviously| definitely| all| not| so| plain)* (?:wrong|false|incorrect|untrue|inaccurate|a lie|not (?:true|right|correct|accurate|a fact|the case))(?! (?:to|with|that|for|about|number|person|one|order|of))|(?:that|this|it)(?:'s| is)? (?:isn't|not|wasn't) (?:quite |even |at all |really |actually |entirely )*(?:true|right|correct|accurate)|you(?:'re| are| were|'ve got| got| have) (?:it |that |this |completely |totally |just |absolutely |simply |quite |actually )*(?:wrong|mistaken|incorrect|lying)(?! (?:about me))|your (?:\\p{L}+ )?(?:answer|information|info|facts?|data|math|calculation|statement|response|reply|result)s? (?:is|are|was|were|seems?) (?:\\w+ )?(?:wrong|incorrect|false|outdated|inaccurate|not (?:correct|right|accurate|true)|off|out of date)|you(?:'ve| have)? (?:made|make) (?:a|an|another|some|the same) (?:\\w+ )?(?:mistakes?|errors?)|(?:you(?:'re| are)|stop) (?:just )?(?:making (?:that|this|it|things|stuff) up|hallucinat\\w+|lying)|you made (?:that|it|this) up|(?:that|this) (?:doesn't|does not|didn't) (?:exist|add up)|there(?:'s| is) no such|^(?:wrong|incorrect|false|not (?:true|correct))(?= *[!.,]|$)",
        "(?:eso|esto|es|esta|estas|la respuesta esta|su respuesta es|tu respuesta es) (?:muy |totalmente |completamente )?(?:incorrect[oa]|fals[oa]|mal(?= *[.,!]|$)|equivocad[oa]|erroneo)|(?:eso )?no es (?:correcto|cierto|verdad|asi)|te equivocas|se equivoca|(?:isso|esta|voce esta) (?:esta )?(?:errad[oa]|incorret[oa]|fals[oa]|enganad[oa])|isso nao (?:e|esta) (?:verdade|certo|correto)|c'est (?:faux|incorrect|errone|inexact)|ce n'est pas (?:vrai|correct|exact|juste)|vous vous trompez|tu te trompes|(?:das|es|deine antwort|ihre antwort) (?:ist|war) (?:leider |ganz |vollig )?(?:falsch|nicht (?:richtig|korrekt|wahr))|(?:das )?stimmt (?:so |leider |gar |aber )?nicht|(?:sie|du) (?:irren|irrst|liegen|liegst) (?:sich|dich|falsch)|(?:e |questo e |hai |ha )(?:sbagliat[oa]|falso|errat[oa]|scorretto)|non e (?:vero|corretto|giusto)|ti sbagli|si sbaglia|dat (?:is|klopt) (?:fout|onjuist|niet(?: (?:waar|juist|correct))?)(?= *[.,!]|$)|(?:u|je) (?:vergist|hebt ongelijk)|to (?:nieprawda|jest (?:bledne|nieprawda|zle))|mylisz sie|myli sie|(?:это )?(?:неправда|неверно|неправильно|ошибка(?= *[.!]|$))|(?:вы|ты) (?:ошибаетесь|ошибаешься|не прав(?:ы|а)?)",
        "(?:^|[,.] )but you (?:said|told me|promised|wrote)|^you promised|you (?:said|told me|promised) [^.?!]{2,60}(?:,|;)? (?:but|yet) |(?:i|we) (?:was|were|have been|feel) (?:misled|misinformed|lied to|cheated|deceived)|(?:me|nos) (?:han |has |habeis )?(?:enganado|mentido|enganaron|mintieron)|(?:fui|fomos) enganad[oa]s?|on m'a (?:menti|trompe)|(?:ich wurde|wir wurden|man hat mich) (?:belogen|getauscht|falsch informiert)|(?:mi avete|sono stat[oa]) (?:ingannat[oa]|mentito)|меня обманули|(?:bu|o) (?:dogru degil|yanlis)(?= *[.!,]|$)|yaniliyorsun\\p{L}*",
      ],
      [
        '你(?:说|答|搞|弄)错了|说的不对|(?:这|那)(?:是)?(?:不对|错的|不正确)|不对[吧啊！。,，]|信息有误|回答(?:错误|有误)|間違って(?:いる|います|る)|間違いです|正しくない|正しくありません|嘘です|틀렸|틀린|사실이\\s?아니|잘못된\\s?(?:정보|답)|骗我|骗人|嘘(?:つき|を(?:言|つ))|騙され',
      ],
    ),
    notInQuestions: true,
  },
  {
    key: 'ignored-instruction',
    says: anyOf(
      [
        "(?:i|we)(?:'ve| have)? (?:already |just |clearly |specifically |explicitly )*(?:told|asked|instructed|begged) you (?:not |already |before |twice |specifically |several |multiple |again )*(?:to|for|in|that|about|times)|(?:i|we)(?:'ve| have)? (?:already|just|clearly|specifically|explicitly) (?:told|said|gave|given|mentioned|answered|provided|specified|asked|explained)|you (?:\\w+ )?(?:ignored|forgot|disregarded|skipped|didn't follow|did not follow|are ignoring|keep ignoring|aren't following|are not following|failed to follow|didn't do what|did not do what|didn't use|did not use)(?: (?:my|the|what|that|to))|(?:^|[,.;] )(?:as|like) i (?:already |just )?(?:said|told you|mentioned|asked|explained|requested|specified)|(?:i )?(?:said|asked for|requested|wanted) (?:only|no |without|exactly|less than|at most|at least|not more|under|just )|(?:please |just )?follow my (?:instructions?|directions?)|(?:do|read) what i (?:said|asked|told you|wrote)|why (?:did|do) you (?:keep|still)|i (?:said|asked) (?:for )?\\d+ [\\p{L}]+,? not|you keep (?:asking|saying|repeating|giving|telling|sending|ignoring|making|getting|misunderstanding|forgetting)",
        "(?:ya )?te (?:dije|pedi|he dicho|habia dicho)(?: que)?|(?:ya )?le (?:dije|pedi|he dicho)|como (?:ya )?(?:dije|le dije|te dije|he dicho)|eu (?:ja )?(?:disse|falei|pedi)|como (?:eu )?(?:ja )?(?:disse|falei)|je (?:vous|t'|te) ?(?:ai|l'ai) (?:deja )?(?:dit|demande)\\p{L}*|comme je (?:vous )?l'ai dit|j'ai (?:deja|bien) (?:dit|demande|precise)|ich (?:habe|hatte) (?:doch |schon |bereits |ihnen |dir )+(?:\\p{L}+ )?(?:gesagt|geschrieben|mitgeteilt|gebeten|angegeben)|wie (?:ich )?(?:schon|bereits) (?:gesagt|erwahnt|geschrieben)|(?:ti |le |vi )?(?:ho|avevo) (?:gia )?(?:detto|chiesto) di|come (?:ho )?(?:gia )?detto|ik (?:heb|had) (?:toch |al |je |u )+(?:\\p{L}+ )?(?:gezegd|gevraagd)|zoals ik (?:al )?zei|(?:juz )?(?:mowilem|mowilam|prosilem|prosilam)|jak (?:juz )?(?:mowilem|wspomnialem|mowilam)|я (?:же |уже )+(?:говорил|сказал|просил|писал)[а]?|как я (?:уже )?(?:говорил|сказал)[а]?",
        "you(?:'ve| have)? already (?:said|told me|asked(?: me)?|suggested|sent(?: me)?|gave me|mentioned)(?: that| this| it)?|you (?:asked|told|said|suggested)(?: me)? (?:that|this|it|the same(?: thing)?) (?:already|before|last time|yesterday|last (?:week|month)|twice|again|earlier)|(?:that's|that is|this is) (?:exactly |just )?what you (?:said|told me|answered|promised) (?:last|before|already|yesterday|earlier|the other|a (?:week|month|day))",
        "(?:eso )?ya (?:me )?lo (?:dijo|dijiste|ha dicho|has dicho|preguntaste|pregunto)|(?:isso )?(?:voce )?ja (?:me )?(?:disse|perguntou) isso|vous (?:me )?l'avez deja (?:dit|demande)|tu (?:me )?l'as deja (?:dit|demande)|das (?:hast du|haben sie)(?: mir| mich)? (?:schon|bereits) (?:gesagt|gefragt|geschrieben)|(?:me )?l'(?:ha|hai) gia (?:detto|chiesto)|dat (?:zei|vroeg|heb) (?:je|u) (?:al|net)(?: gezegd| gevraagd)?|(?:вы|ты) (?:мне )?(?:это )?уже (?:говорил|спрашивал|писал)[аи]?|bunu (?:zaten|daha once) (?:soyledi\\p{L}*|sordu\\p{L}*)",
      ],
      [
        '我(?:已经|刚才|刚刚|都)(?:说|讲|告诉)(?:过|了|你)|我(?:明明|不是)(?:说|让)|按(?:照)?我说的|言ったはず|言いました(?:よね|が|けど)|さっき(?:も)?言|指示(?:に|を)|말했(?:잖|는데|듯이)|라고\\s?했(?:잖|는데)|你(?:刚才|已经|之前)(?:就)?(?:说|问)过|それは(?:もう|さっき)(?:聞|言)',
      ],
    ),
  },
  {
    key: 'insufficient-detail',
    says: anyOf(
      [
        "(?:that|this|it|your (?:answer|response|explanation|description))(?:'s| is| was|'re)? (?:a bit |a little |too |very |really |so |still |rather |pretty |way too |just )+(?:vague|short|brief|general|generic|unclear|high[- ]level|superficial|basic|broad)|(?:be|more) (?:a (?:bit|little) )?(?:more )?specific(?= *[.!?,]| *$| please)|(?:be|need you to be) more (?:specific|precise|detailed|concrete)|not (?:detailed|specific|clear|thorough|complete|precise) enough|(?:not|n't) (?:enough|sufficient|much) (?:details?|information|info|explanation|context|to go on)|(?:more|some|further|go into|add|any|give me|with|in) (?:more |greater |further )?detail(?:s|ed)?(?: please)?(?= *[.!?]| *$)|(?:elaborate|expand)(?: (?:more|further|a bit|on (?:that|this|it)|please))*(?= *[.!?]| *$)|is that (?:all|it|everything)(?= *[?]| *$)|you (?:left|missed) (?:out |some|the|a )|(?:your answer|that|this|it)(?:'s| is) (?:incomplete|not complete|cut off)|(?:tell me|say|explain) (?:a (?:bit|little) )?more(?: please)?(?= *[.!?]| *$)|more (?:options|choices|examples|alternatives|suggestions)(?: please)?(?= *[.!?]| *$)",
        "(?:mas|mais) (?:detalles|detalhes|especific[oa]|informacion|informacoes)(?:,? por favor)?(?= *[.!?]| *$)|(?:muy|demasiado|muito|tao) (?:vag[oa]|general|generic[oa]|cort[oa]|curt[oa]|brev[e])|(?:plus|davantage) (?:de )?(?:details?|precis(?:ions?)?)(?: s'il vous plait)?(?= *[.!?]| *$)|trop (?:vague|court|general|bref)|(?:mehr|genauere|nahere) (?:details|einzelheiten|angaben)(?: bitte)?(?= *[.!?]| *$)|(?:zu|sehr) (?:vage|ungenau|allgemein|kurz)(?= *[.!?,]| *$)|(?:piu|maggiori) dettagli(?: per favore)?(?= *[.!?]| *$)|troppo (?:vago|generico|breve)|meer (?:details|uitleg)(?= *[.!?]| *$)|te (?:vaag|kort|algemeen)|wiecej szczegolow|zbyt (?:ogoln\\p{L}+|krotk\\p{L}+)|(?:подробнее|поподробнее|больше подробностей)(?= *[.!?]| *$)|слишком (?:кратко|общо|коротко)",
      ],
      [
        '(?:再|更|说|讲)(?:具体|详细|仔细)(?:一?点|些|说)|不够(?:详细|具体|清楚)|太(?:简单|笼统|短|简略)了?|还有(?:别的|其他的?)吗|もっと詳しく|もう少し詳しく|具体的に(?:教|お願)|説明が足り|曖昧|더\\s?(?:자세히|구체적)|너무\\s?(?:짧|모호)',
      ],
    ),
    maxWords: 14,
  },
  {
    key: 'frustration',
    says: anyOf(
      [
        "wtf|what the (?:hell|heck|fuck|f)|(?:fuck|screw|damn) (?:you|this|off|it)|fucking (?:useless|stupid|bot|idiot|terrible|ridiculous|joke)|bull ?shit|go to hell|shut up|(?:you(?:'re| are)|u r|you)(?: such)?(?: a| an| so| really| very| just| fucking| freaking| too)* (?:stupid|dumb|idiot|idiotic|moron|useless|pathetic|ridiculous|incompetent|terrible|the worst|a joke|worthless|suck|sucks|annoying|rude|crazy|horrible|awful)|(?:stupid|dumb|useless|idiotic|bloody|damn|fucking) (?:bot|machine|ai|robot|computer|assistant|chatbot|thing|program|system)|(?:this|that|it)(?:'s| is) (?:just |so |really |absolutely |completely |getting |totally |beyond |truly |such |fucking )*(?:an? )?(?:ridiculous|unacceptable|outrageous|insane|crazy|absurd|a joke|joke|bad joke|nonsense|infuriating|maddening|frustrating|annoying|terrible|awful|horrible|exhausting|disgrace|scam|a waste|waste)(?! (?:movie|film|song|show))",
        "(?:i'm|i am|i feel|we are|i was|getting|this makes me|makes me) (?:just |so |really |very |getting |extremely |beyond |quite |absolutely |pretty |becoming |feeling )*(?:frustrated|annoyed|angry|furious|mad|pissed(?: off)?|irritated|upset|fed up|outraged|livid|exasperated|sick of|sick and tired of|tired of)|so (?:frustrating|annoying|confusing)|(?:very|really|extremely|quite) (?:frustrating|annoying)|(?:waste|wasting|wasted)(?: of)? (?:my |our |of my )?(?:damn )?time|(?:sick|tired) (?:and tired )?of (?:this|you|your|it|repeating|waiting|explaining)|fed up|(?:i )?(?:hate|can't stand) (?:this|you|that|it)(?= *[.,!]| *$| bot| service| app| so)|how many times (?:do|must|have|should)|for the (?:second|third|fourth|fifth|last|hundredth|millionth|nth|umpteenth|\\d+(?:nd|rd|th)) time(?! (?:the|my|that|this|when|it|of|we|he|she)(?![\\p{L}]))|(?:this is|you(?:'re| are)|why is this|it is|it's) taking (?:too long|forever|so long|ages)(?= *[.,!?]| *$)|are you (?:kidding|joking|serious|stupid|dumb|deaf|even (?:listening|reading))|you(?:'ve| have) got to be kidding|(?:oh )?come on(?= *[!.,]| *$)|ugh+|argh+|grr+|worst (?:service|bot|assistant|experience|customer|support|company|app|answer)|seriously *[?!]{1,}|omfg|ffs|for (?:god|christ|heaven|fuck)'?s'? sake|(?:you|this|that|it|company|service|app|bot) (?:really )?sucks?(?= *[.!]| *$)",
        "(?:esto |eso )?es (?:ridiculo|inaceptable|una verguenza|una broma|indignante|absurdo|un desastre)|(?:eres|que) (?:un |una |tan )?(?:inutil|idiota|estupid[oa]|tont[oa])|estoy (?:muy |tan )?(?:frustrad|enojad|enfadad|molest|hart|cansad)[oa](?: de)?|que (?:asco|frustrante|rabia)|perdida de tiempo|mierda|(?:isso )?e (?:ridiculo|inaceitavel|um absurdo|uma vergonha|uma piada)|estou (?:muito |tao )?(?:frustrad|irritad|chatead|cansad)[oa]|perda de tempo|que (?:merda|droga|raiva)|porra|c'est (?:ridicule|inacceptable|scandaleux|n'importe quoi|une honte|enervant|penible|nul)|je suis (?:tres |vraiment )?(?:frustre|enerve|en colere|decu|furieux)e?s?|(?:une |de )?perte de temps|j'en ai (?:marre|assez)|merde|(?:tu es|vous etes) (?:nul|stupide|idiot|inutile)s?",
        '(?:das ist |so )(?:doch |wirklich |einfach |ja |absolut )*(?:lacherlich|unmoglich(?= *[!.])|inakzeptabel|eine frechheit|eine zumutung|unverschamt|nervig|ein witz)|ich bin (?:sehr |so |echt |wirklich )?(?:frustriert|genervt|wutend|sauer|verargert|enttauscht)|zeitverschwendung|(?:so ein |was fur ein )?(?:mist|scheisse|quatsch)(?= *[!.]| *$)|(?:du bist|sie sind) (?:so )?(?:dumm|nutzlos|blod)|e (?:ridicolo|inaccettabile|una vergogna|assurdo|uno scandalo)|sono (?:molto |davvero )?(?:frustrat|arrabbiat|delus|stuf)[oa]|perdita di tempo|(?:che )?schifo|cazzo|sei (?:inutile|stupido|un idiota)|(?:dit|dat) is (?:belachelijk|onacceptabel|een schande|waardeloos|irritant)|ik ben (?:erg |heel |zo )?(?:gefrustreerd|boos|teleurgesteld|geirriteerd)|tijdverspilling|(?:jestem )?(?:wsciekl[ya]|sfrustrowan[ya]|zdenerwowan[ya])|to (?:jest )?(?:smieszne|niedopuszczalne|zart|skandal)|strata czasu|cholera|kurwa|это (?:просто )?(?:смешно|неприемлемо|издевательство|безобразие|возмутительно)|я (?:очень )?(?:зол|злюсь|разочарован[а]?|возмущ[её]н[а]?)|(?:пустая )?трата времени|(?:ты )?(?:тупой|тупая|идиот|дурак)|бесит',
        "u+r*gh+|^\\*?sigh+|(?:going|running|sent|talking)(?: me)? (?:round |around )?in circles|getting (?:me )?nowhere|(?:this is|that's|it's|it is) (?:already |now )*(?:the|my) (?:second|third|fourth|fifth|sixth|tenth|\\d+(?:nd|rd|th)) time (?:that )?(?:i|i'm|i've|we|we're|you)(?![\\p{L}])|outrageous(?= *[.!]|$)|unbelievable(?= *[.!]|$)|unacceptable(?= *[.!]|$)",
        "(?:es|ya van) (?:ya )?(?:la (?:segunda|tercera|cuarta|quinta|enesima) vez|\\p{L}+ veces) que|(?:e|ja e) a (?:segunda|terceira|quarta|quinta|enesima) vez que|c'est (?:deja )?la (?:deuxieme|seconde|troisieme|quatrieme|enieme|\\d+e|\\d+eme) fois que|(?:schon )?zum (?:zweiten|dritten|vierten|funften|x-ten|wiederholten|\\d+\\.) ?mal|e (?:gia )?la (?:seconda|terza|quarta|quinta|ennesima) volta che|voor de (?:tweede|derde|vierde|zoveelste) keer|(?:juz )?(?:drugi|trzeci|czwarty|kolejny) raz (?:pytam|pisze|prosze)|(?:уже )?(?:второй|третий|четвертый|четвёртый|который) раз (?:я )?(?:пишу|спрашиваю|прошу|обращаюсь|звоню)|(?:ikinci|ucuncu|dorduncu|kacinci) (?:kez|kere|defa)|(?:estoy|estamos) dando vueltas|(?:estou|estamos) (?:andando|dando voltas)|(?:on|je) tourne en rond|(?:wir|ich) drehe?n? (?:uns|mich) im kreis|(?:stiamo )?girando (?:in tondo|a vuoto)|in (?:een )?kringetjes?|ходим по кругу|(?:das ist |so |echt |einfach )?unverschamt(?= *[.!]|$)|(?:inaceptable|indignante|inaceitavel|inacceptable|scandaleux|inaccettabile|vergognoso|onacceptabel|schandalig|skandal|возмутительно|безобразие|rezalet|kabul edilemez|sacmalik|berbat)(?= *[.!]|$)|que (?:verguenza|desastre|vergonha)|quelle honte|che vergogna|(?:bu )?(?:cok )?(?:sinir bozucu|komik degil|sacma)|biktim",
      ],
      [
        '垃圾|气死|烦死|(?:太|真|好)(?:烦|气人|过分|无语)|无语|荒谬|浪费(?:我的?)?时间|白痴|笨蛋|傻[逼瓜]|什么破|离谱|ふざけ|イライラ|腹が立|時間の無駄|最悪|いい加減に|バカ|馬鹿|짜증|화가\\s?나|답답|어이없|시간\\s?낭비|최악|멍청|第[二三四五六七八九十两\\d]次(?:问|说|联系|打|来|找|反映|投诉)|踢皮球|兜圈子|绕圈子|太差劲|受够了|たらい回し|[二三四五2-9](?:度|回)目(?:です|だ|の)|ありえない|두\\s?번째|세\\s?번째',
      ],
    ),
  },
  {
    key: 'gives-up',
    says: anyOf(
      [
        "(?:talk|speak|chat|transfer(?: me)?|connect(?: me)?|put me (?:through|in touch)|pass me|hand me(?: over)?|escalate(?: (?:this|me))?|forward me|get me|give me|let me (?:talk|speak)(?: to| with)?|want|need|have)(?: directly)?(?: to| with| on to| over to| through to)? (?:a |an |another |the |your |my |some |someone |somebody )*(?:real |live |actual |human |other |different |customer (?:service|support) |support |senior )*(?:human(?: being)?|person|agent|representative|rep|manager|supervisor|operator|customer service|human agent|real person)(?= *[.!?,]| *$| (?:please|now|instead|about|who|that|directly|immediately|not|on|to))|(?:is there|can i have|get) (?:a |an )?(?:real |live |actual )?(?:manager|supervisor|human|real person)(?: i can)?|(?:i )?give up|never ?mind(?= *[.!,]| *$)|forget (?:it|about it|this)(?= *[.!,]| *$)|i(?:'ll| will|'d rather| am going to|'m going to|'m gonna)(?: just)? (?:try|do it|look|find|figure|call|go|take my business|ask|check|search)(?: (?:it|this|that|for it|them))? ?(?:out |up )?(?:myself|elsewhere|somewhere else|someone else|another (?:time|company|place)|on my own|another time)|(?:this is|it's|it is) (?:hopeless|pointless|going nowhere|no use)|(?:i'm|i am) (?:so )?done (?:with (?:this|you)|here|trying)|i(?:'ll| will)? try another time|real (?:person|human),? please|^(?:human|agent|representative|operator|real person|live agent)(?: please)?(?= *[.!]| *$)",
        "(?:hablar|comunicar(?:me|se)?|pas(?:ame|eme)|conect(?:ame|eme)|transfier(?:ame|eme)) con (?:un |una |el |la |algun |alguien |)(?:humano|persona|agente|representante|gerente|supervisor|operador|encargad[oa])|me rindo|olvidalo|dejalo|falar com (?:um |uma |o |a |alguem |)(?:humano|pessoa|atendente|gerente|agente|supervisor|operador|responsavel)|desisto|deixa (?:pra la|para la)|esquece|parler (?:a|avec) (?:un |une |le |quelqu'un|)(?:humain|personne|conseiller|agent|responsable|superviseur|operateur|vrai)|(?:laissez|laisse) tomber|j'abandonne|oubliez|(?:mit )?(?:einem |einer |dem |einen )?(?:menschen|mitarbeiter(?:in)?|echten person|vorgesetzten|berater(?:in)?|kundendienst) (?:sprechen|reden|verbinden|verbunden)|ich gebe auf|vergiss es|vergessen sie es|(?:parlare|mettermi in contatto) con (?:un |una |il |la |qualcuno|)(?:operatore|persona|umano|responsabile|agente)|lascia perdere|lasci perdere|mi arrendo|(?:met )?(?:een )?(?:mens|medewerker|echt persoon|leidinggevende) (?:spreken|praten)|laat maar|ik geef het op|(?:rozmawiac|porozmawiac|polaczyc) z (?:\\p{L}+ )?(?:czlowiekiem|konsultantem|kierownikiem|osoba)|poddaje sie|niewazne|(?:соедините|поговорить|переключите|позовите)(?: меня)? (?:с |на )?(?:\\p{L}+ )?(?:оператор\\p{L}*|человек\\p{L}*|менеджер\\p{L}*|сотрудник\\p{L}*)|я сдаюсь|забудьте|ладно,? не надо",
        "(?:dann )?(?:schaue?|suche|kaufe|gehe|probiere|bestelle|versuche) ich (?:es |mich |halt |eben |dann |lieber )*(?:woanders|anderswo|wo anders)|(?:verbinden sie|verbinde|verbindet) mich|(?:buscare|comprare|mirare|ire) (?:en|a) otro (?:sitio|lado|lugar)|vou (?:procurar|comprar|ver) (?:noutro|em outro|a outro)|(?:j'irai|je vais|j'irais) (?:voir|chercher|acheter)? ?ailleurs|(?:cerco|cerchero|compro|vado) (?:da un'altra parte|altrove)|(?:kijk|zoek|koop|ga) ik (?:wel |dan )*(?:ergens anders|elders)|(?:poszukam|kupie) gdzie indziej|(?:поищу|куплю) в другом месте|(?:gercek )?(?:bir )?(?:insanla|temsilciyle|yetkiliyle|musteri hizmetleriyle) (?:gorusmek|konusmak)|(?:bosver|vazgectim|bosverin)(?= *[.!,]|$)|baska yer(?:den|e|de)",
      ],
      [
        '(?:转|找|要|接|叫|跟|和)(?:一?个)?(?:人工|真人|客服|经理|主管)|人工(?:客服|服务)|算了(?:吧)?|不用你了|放弃了?|(?:人間|担当者|オペレーター|責任者)(?:と|に|を)(?:話|代|繋|つな|出|お願)|もういい(?:です)?|諦め|(?:상담원|사람|담당자|매니저)(?:과|와|이랑|을|를|에게)?\\s?(?:연결|통화|바꿔|얘기|대화)|포기|됐어요?,?\\s?그만|(?:去|到)别(?:家|处|的地方)(?:买|看)|換其他|他の(?:店|ところ)(?:で|に)',
      ],
    ),
  },
];

/** A sentence that tells how it went asks for nothing, so thanks after it are thanks. */
export const GOOD_NEWS = anyOf(
  [
    '(?:worked|works|found|got it|received|arrived|solved|fixed|helped|refunded|glad|done|sorted|saved)(?! (?:but|not|nothing|no))',
    "funciono|encontr[eo]i?|recibi|recebi|llego|chegou|deu certo|resolvid[oa]|resuelto|trouve|recu|(?:ca|c'est) (?:marche|bon)|resolu|gefunden|geklappt|angekommen|funktioniert(?! nicht)|erledigt|trovat[oa]|funziona|arrivat[oa]|risolto|gevonden|gelukt|aangekomen|opgelost|znalazl\\p{L}+|dziala|doszl[oa]|нашел|нашла|нашёл|пришло|получилось|работает|buldum|oldu|geldi|calisti",
  ],
  ['成功|收到了|找到了|解决了|好了', '届きました|できました|見つかりました|ありました'],
);
/** Takes good news back. */
export const NOT_SO = anyOf(
  [
    "not|\\p{L}+n't|no|never|nothing|nicht|kein\\p{L}*|pas|nao|non|niet|geen|nie|не|нет|can you|could you|please",
  ],
  ['没|不|ない|ません'],
);

/** Complaints that name no wish. */
export const WISHLESS: ReadonlySet<SignalKey> = new Set<SignalKey>([
  'negative-feedback',
  'factual-error',
  'ignored-instruction',
  'frustration',
]);

/** No, not, sorry, instead: alone they say little, but they tip the scales of a turn that sounds displeased. */
export const PUSHBACK = anyOf(
  [
    "no|nope|not|\\p{L}+n't|sorry|instead|wrong|but|actually|just|again",
    'no|pero|sino|mal|otra vez|nao|mas|errado|de novo|non|pas|mais|faux|encore|ma|sbagliato|ancora|nein|nicht|kein\\p{L}*|sondern|aber|falsch|nochmal|nee|niet|geen|maar|fout|opnieuw|nie|ale|zle|znowu|нет|не|но|опять|снова',
  ],
  ['不[是要对行]|没|但|却|いいえ|違|ない|ません|でも|아니|안 |하지만'],
);
/** No, not, instead: on the way to a correction. */
export const DENIES = anyOf([
  "no|nope|nah|negative|not|\\p{L}+n't|instead|wrong|incorrect|actually|meant|change",
]);
