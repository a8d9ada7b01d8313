/** What an assistant says when it admits inability, and when it only seems to. Covered by test/enrich/gaps.test.ts. */
import { anyOf } from '../language/patterns.ts';

// Verbs of knowing and finding: being unable to do these is missing knowledge.
const KNOWING =
  '(?:find|locate|see|tell|say|know|determine|verify|confirm|answer|identify|recall|predict|(?:give|provide|share|offer|get|retrieve|obtain)(?: you)?(?: with)?(?: \\w+){0,4}? (?:information|info|details?|data|answer|figures?|numbers?|statistics|updates?|prices?|rates?|news))';
const CANNOT =
  "(?:can ?not|can't|cant|could ?n[o']t|couldn't|could not|am (?:currently |also |still |just )?unable to|'m (?:currently |also |still |just )?unable to|was unable to|were unable to|are (?:currently )?unable to|'re unable to|(?:am|'m|are|'re|was|were) (?:currently |just )?not (?:currently )?(?:able|equipped|authori[sz]ed|permitted|programmed|set up) to|(?:am|'m) not capable of(?! (?:having|generali\\p{L}+|providing|forming|feeling|holding|making|expressing))|(?:wasn't|weren't|aren't|isn't|was no) able to|(?:am |was |have |had )?fail(?:ed)? to|(?:have|has) not been able to|haven't been able to|(?:have|has|'ve) been unable to|(?:will not|won't|would not|wouldn't) be able to|had (?:some )?(?:trouble|problems?|difficulty) (?:in )?)";
const SUBJECT = "(?:i|we|it (?:looks|seems|appears) like i|i'm afraid i|i am afraid i|unfortunately,? i)";
const ADVERBS =
  '(?: (?:really|actually|currently|unfortunately|also|just|even|yet|still|directly|definitively|seem to|,))*';

export const TOOL = anyOf(
  [
    // The subject may be left out ("Sorry, could not book that").
    `(?:${SUBJECT}${ADVERBS} ?,? ?|^(?:(?:i'm |i am )?(?:very |so )?(?:sorry|afraid|unfortunately|apologies)[,. ]+(?:but )?)?(?:i )?)${CANNOT}${ADVERBS} (?!(?:be |help |assist |do that|do this|seem )?(?:${KNOWING})(?![\\p{L}]))(?!(?:(?:give|provide|offer|share|show)(?: you)?(?: with)?(?: \\p{L}+){0,3}? (?:opinions?|advice|judg\\p{L}+|biased|answers?|responses?|recommendations?|predictions?|endorsement|views?|assistance|bias|guidance|support|service)|make (?:\\p{L}+ ){0,2}?(?:judg\\p{L}+|general\\p{L}+|assum\\p{L}+|statements?|claims?|comparisons?|predictions?|it)|speak|form|speculate|state|critici[sz]e|ascribe|judge|infer|generali[sz]e|decide|draw|make decisions|(?:accurately |fully |properly )?answer|take|hold|possess|experience|help|assist|support|fulfil\\p{L}*|stay|comply|condone|engage|endorse|promote|participate|encourage|discuss|write|generate|have|feel|understand|imagine|say|wait|believe|think|be |stress|emphasi[sz]e|thank|agree|stand|express|hear|make out|in good)(?![\\p{L}]))[\\p{L}]{2,}`,
    "(?:do not|don't|does not|doesn't|did not|didn't|lack) (?:currently |yet |actually )?(?:have )?(?:the|any|an?)? ?(?:\\w+ )?(?:ability|capability|capabilities|capacity|tools?|functions?|functionality|feature|permissions?|authori[sz]ation|authority|means|way)(?: provided)? (?:to|of|for|that) (?!(?:determine|infer|judge|feel|have|form|experience|think|understand|hold|predict|express|love|believe))\\p{L}+",
    "(?:do not|don't|no longer) (?:currently |yet )?have (?:\\w+ )?access to (?!(?:\\w+[ -]){0,4}?(?:information|info|data|details|statistics|news|knowledge|updates|sources|schedules|rates|prices|records of|internet))\\p{L}+",
    '(?:outside|beyond|not within|not part of) (?:of )?(?:my|the scope of my|our) (?:\\w+ )?(?:capabilit(?:y|ies)|abilit(?:y|ies)|functions?|functionality|reach|powers?)',
    '(?:my|current) (?:\\w+ )?(?:capabilities|functions?|functionality|abilities) (?:(?:are|is) (?:currently )?limited|(?:only )?allow me)',
    "(?:reservation|booking|appointment|order|payment|transfer|request|purchase|transaction|ticket|table|room|visit|ride|event)s? (?:\\w+ ){0,6}?(?:was|were|has|have|is|are|could|can) (?:unfortunately |currently )?(?:not |n't |unsuccessful|failed|been unsuccessful|been declined|denied|rejected)(?:be |been |go |get )?(?:successful|possible|made|booked|reserved|completed|processed|placed|scheduled|confirmed|purchased|through|done)?",
    "(?:couldn't|could not|can't|cannot) be (?:booked|reserved|made|completed|processed|placed|scheduled|cancell?ed|changed|purchased|done)",
    '(?:booking|reservation|payment|order|purchase|transaction|appointment|tickets?|schedul\\p{L}+|movie|song|request|that|this|it|visit)s? (?:\\p{L}+ )?(?:was |has |were |is |has been |also |still )*(?:failed|unsuccessful|incomplete|declined)',
    "(?:didn't|did not|does not|doesn't|wasn't able to|won't) (?:go through|work out)|(?:appointment|booking|reservation|order|payment|time|that|request)s? (?:did not|didn't|won't) work",
    "(?:time|slot|date|reservation|booking|appointment|table|room|ticket|flight|train|bus|seat|option)s?(?: slot)?(?: \\p{L}+){0,3}? (?:was|were|is|are|'s)(?: \\p{L}+){0,2}? (?:unavailable|sold out|fully booked|booked up|not available|already taken)|(?:time|slot|date|reservation|booking|appointment|table|room|ticket|flight|train|bus|seat)s?(?: slot)? (?:wasn't|weren't|isn't|aren't) (?:available|possible|open)|no (?:reservations?|tables?|tickets?|rooms?|seats?|appointments?|slots?) (?:available|left|open)",
    "(?:can't|cannot|can not) (?:help|assist)(?: you)?(?: with| on)? (?:that|this|there|it)[, ]+but|(?:can|could) only (?:help|assist)(?: you)? with|(?:can't|cannot|couldn't) help there",
    '(?:was|been|is) (?:a |an |some )?(?:problem|issue|error|trouble) (?:with|in|making|while|when|booking|processing|scheduling|reserving)',
    "(?:it is|it's|was|is|that's) (?:not|n't) possible(?: for (?:me|us))? to \\p{L}+|(?:did not|didn't) manage to|no availability",
    'not something (?:that )?i (?:can|am able to)',
    'no (?:ability|capability|way) to',
    "(?:isn't|is not) (?:something|a feature) (?:that )?(?:i|we) (?:can|support|offer)",
    // es pt it
    '(?:no|nao|non) (?:me es posible|es posible|puedo|podemos|he podido|pude|pudimos|soy capaz de|posso|podemos|consigo|conseguimos|consegui|sou capaz de|foi possivel|e possivel|posso|possiamo|riesco a|sono in grado di|ho potuto|sono riuscito a|e stato possibile) (?!(?:encontrar|saber|decir|dizer|trovare|sapere|dire|ayudar|ajudar|aiutar|responder|rispondere|confirmar|verificar|confermare|localizar|achar)\\p{L}*)\\p{L}{3,}',
    '(?:no tengo|nao tenho|non ho) (?:la |a )?(?:capacidad|capacidade|capacita|posibilidad|possibilidade|possibilita|herramientas?|ferramentas?|funcion|funcao|funzione|permisos?|permissao|permesso|acceso a|acesso a|accesso a)(?! (?:\\p{L}+ ){0,3}(?:informacion|informacoes|informazioni|datos|dados|dati))',
    'no estoy (?:autorizado|capacitado|habilitado)',
    // fr
    "je (?:ne peux|ne suis|n'ai) (?:malheureusement |actuellement )?pas (?:(?:en mesure|capable) (?:de |d')|(?:la |le |les )?(?:capacite|possibilite|pouvoir|outils?|fonction(?:nalite)?|droits?|acces a))(?!(?:trouver|savoir|dire|repondre|confirmer|verifier))\\p{L}+",
    "je ne (?:peux|puis|pouvais) (?:malheureusement |actuellement )?pas (?!(?:trouver|savoir|vous dire|te dire|dire|repondre|vous aider|t'aider|confirmer|verifier|vous renseigner))\\p{L}+",
    "(?:nous ne pouvons|je n'ai|nous n'avons) pas (?:pu )?(?:reserver|annuler|effectuer|modifier|ouvrir|envoyer|acceder)",
    // de
    '(?:ich|wir) (?:kann|konnte|konnen|konnten) (?:(?!wissen|finden|sagen|beantworten|helfen|bestatigen)\\p{L}+ ){1,9}?(?:nicht|keine?n?|leider) (?:(?!wissen|finden|sagen|beantworten|helfen|bestatigen)\\p{L}+ ){0,7}(?!wissen|finden|sagen|beantworten|helfen|bestatigen)\\p{L}+[^\\p{L}\\w]*$',
    '(?:nicht in der lage|nicht moglich|ausserstande|keine (?:moglichkeit|berechtigung|funktion|fahigkeit)|keinen zugriff auf (?!(?:\\p{L}+ ){0,2}(?:informationen|daten|echtzeit)))',
    // nl
    '(?:ik|we|wij) kan?(?:kunnen)? (?:helaas |op dit moment )?(?:\\p{L}+ ){0,6}?(?:niet|geen) (?!(?:vinden|zeggen|weten|helpen|beantwoorden))(?:\\p{L}+ ){0,4}?(?:boeken|reserveren|annuleren|openen|wijzigen|versturen|uitvoeren|doen|bestellen|plannen|inzien)',
    'niet in staat om|niet mogelijk (?:om|voor mij)|geen (?:mogelijkheid|toegang|bevoegdheid)',
    // pl
    'nie (?:moge|mozemy|moglem|moglam|udalo mi sie|udalo sie|jestem w stanie|potrafie) (?!(?:znalezc|powiedziec|odpowiedziec|pomoc|potwierdzic))\\p{L}{4,}|nie mam (?:mozliwosci|dostepu do|uprawnien)',
    // ru uk
    '(?:я |мы )?(?:к сожалению,? )?(?:я )?не (?:могу|можем|смог|смогла|смогли|в состоянии|умею) (?!(?:найти|сказать|ответить|помочь|знать|подтвердить))\\p{L}{3,}|не удалось (?!найти)\\p{L}{3,}|нет (?:возможности|доступа к|прав)|не имею (?:возможности|доступа)',
    // tr
    '(?:yapamam|yapamiyorum|edemiyorum|rezervasyon yapamiyorum|erisimim yok)',
  ],
  [
    '(?:无法|不能|没法|没办法|无权|未能|不支持)(?!(?:回答|确定|确认|提供.{0,8}(?:信息|资料|数据)|查到|找到|查询到|得知|预测|告诉|协助|帮助(?!您?你?预)|满足|理解))(?=.{0,14}(?:预订|预定|订|执行|取消|打开|访问|操作|更新|修改|发送|购买|安排|支付|下单|办理|点外卖|播放|完成|搜索|查找|创建|设置|转账|打电话|登录))',
    '没有(?:.{0,14})(?:能力|功能|权限|办法|工具)',
    '(?:功能|能力)(?:.{0,6})(?:仅限|有限|限于)',
    '(?:予約|実行|操作|キャンセル|変更|アクセス|注文|送信|購入|開く|手配)(?:を|は|が)?(?:する|行う)?(?:こと|事)?(?:が|は|も)?(?:でき(?:ません|ない|ず)|いたしかね)',
    '(?:機能|権限|能力)(?:が|は)(?:あり|ござい)ません',
    '(?:예약|취소|실행|주문|변경|접근|구매|전송)(?:을|를)?\\s?(?:해\\s?드릴|할)\\s?수\\s?없|권한이\\s?없|기능이\\s?없',
  ],
);

export const KNOWLEDGE = anyOf(
  [
    `(?:${SUBJECT}${ADVERBS} ?,? ?|^(?:sorry|unfortunately|apologies)[,. ]+(?:but )?(?:i )?)${CANNOT}${ADVERBS} (?:seem to |be able to )?${KNOWING}`,
    "(?:i|we) (?:do not|don't|dont|did not have|didn't have|wouldn't) (?:really |actually |currently |yet |personally )*(?:know|have (?:an? |any |enough |specific |the |much |sufficient |detailed |that |this |more |further |current |up-to-date |real-time |accurate )*(?:information|info|data|details|knowledge|answers?|records?|idea|clue)|have (?:\\w+ )?access to (?:\\w+[ -]){0,4}?(?:information|info|data|details|statistics|news|knowledge|updates|sources|schedules|rates|prices|records))(?! what you(?:'re| are)? (?:mean|refer|talking|asking|want))",
    "(?:do not|don't) have access to (?:\\w+[ -]){0,4}?(?:information|info|data|details|statistics|news|knowledge|updates|sources|schedules|rates|prices|internet)",
    "(?:i'm|i am|we're|we are) not (?:really |entirely |exactly |quite |totally |very )?(?:sure(?! (?:i|that i|if i|about that)(?![\\p{L}]))(?!(?: that)? (?:what you|i (?:understand|follow|know what)|how i can))|certain|aware of|familiar with|knowledgeable)",
    "(?:i|we) (?:have not|haven't|have never) (?:heard|seen|been told|been given|been able to find|found)",
    '(?:i|we) (?:have|had|found|find|see|got|get) (?:no|zero) (?:information|info|data|details|knowledge|idea|record|records|results?|listings?|match(?:es)?|trains?|idea|options?|\\w+ (?:that|matching|in|available|with))',
    "(?:there (?:is|are|was|were)|there's) (?:no|not any|0|zero) (?:\\w+ ){0,5}?(?:information|info|data|results?|records?|match(?:es)?|available|listed|matching|that (?:match|meet|fit)|with those|meeting|in (?:my|our|the) (?:database|system|records|list))",
    'no (?:\\w+ ){0,3}?(?:information|info|data|results?|records?|match(?:es)?|listings?) (?:\\w+ ){0,3}?(?:available|found|match|about|on|for|regarding|in)',
    "(?:did not|didn't|do not|don't|couldn't|could not) (?:\\w+ )?(?:find|see|show|return|locate) (?:any|anything|that|a|one|what)",
    "(?:information|data|detail)s? (?:is|are|was) (?:not|n't) (?:currently |publicly |yet )?(?:available|listed|provided|known)|(?:isn't|is not|not) (?:listed|in (?:my|our|the) (?:database|system|records|list))",
    "(?:my|our) (?:knowledge|training data|information|data|database) (?:only |is |does |was |was last )?(?:goes up|cut ?off|cuts off|limited|ends?|n't|not|doesn't)",
    "(?:sorry|unfortunately|afraid|apologi[sz]e)[^.?!]{0,60}?(?:we|i) (?:do not|don't|no longer|dont) (?:currently |actually )?(?:have|carry|serve|offer|sell|stock|make|recogni[sz]e)",
    "we (?:actually |really |currently |unfortunately )*(?:do not|don't|dont|no longer|never) (?:currently |actually |seem to |even )*(?:have|carry|serve|offer|sell|stock|do|make)(?! to )|(?:i|we) (?:do not|don't|dont|cannot|can't|am not|'m not|are not|aren't) (?:currently |actually )?(?:see|seeing|find|finding) [^.?!]{1,50}?(?:on|in|as|here|available|listed|match\\p{L}*)|(?:i'm|i am|we're|we are) not (?:currently )?(?:seeing|finding|showing)|(?:there's|there is|there was|there are|there were|i have|i see) (?:nothing|not an?) (?:\\p{L}+ ){0,3}?(?:on|in|matching|that|else|available|like)|that(?:'s| is) all i (?:could|can|was able to) find|no other (?:\\p{L}+ ){1,3}?(?:match\\p{L}*|available|found|fit|meet|that|showing|playing|with)|(?:not|n't)(?: really)? (?:my|our|in my) area of expertise|no,? (?:i'm |i am )?sorry[,. ]*(?:i|we) (?:do not|don't|haven't)|(?:is|are|was) not (?:in|on|part of) (?:our|the|my) \\p{L}+|(?:actually |unfortunately )?no,? we (?:do not|don't)",
    '(?:sorry|unfortunately|afraid)[^.?!]{0,40}?(?:no|not) (?:other |more |any )?(?:\\w+ ){0,3}?(?:suitable|available|matching|other|more|like that)',
    "(?:isn't|is not|aren't|are not|not) on (?:the|our) menu",
    // es pt it
    'no (?:lo )?(?:se|sabemos|conozco)|nao (?:o )?(?:sei|sabemos|conheco)|non (?:lo )?(?:so|sappiamo|conosco)',
    '(?:no|nao|non) (?:tengo|tenemos|dispongo de|cuento con|tenho|temos|disponho de|ho|abbiamo|dispongo di) (?:\\p{L}+ ){0,3}?(?:informacion|informacoes|informacao|informazioni|datos|dados|dati|detalles|detalhes|dettagli|conocimiento|conhecimento|conoscenz\\p{L}|idea|registro|respuesta|resposta|risposta)',
    '(?:no|nao|non) (?:he encontrado|encontre|encontramos|pude encontrar|puedo encontrar|puedo decir\\p{L}*|encontrei|consegui encontrar|consigo encontrar|ho trovato|riesco a trovare|posso dir\\p{L}*|posso dizer|hay|existen) (?:\\p{L}+ ){0,3}?(?:ningun\\p{L}*|nada|nenhum\\p{L}*|nessun\\p{L}*|niente|resultados?|risultati|informacion|informacoes|informazioni|eso|isso|questo|lo que)',
    // fr
    "je ne (?:le )?(?:sais|connais) pas|je n'ai (?:malheureusement |actuellement )?(?:pas|aucune?) (?:(?:\\p{L}+(?: ['’]?|['’])){0,2}?\\p{L}*?|(?:\\p{L}+(?: ['’]?|['’])){3})(?:d'|de )?(?:information|informations|renseignements?|donnees?|reponse|idee|details?)|je (?:n'ai pas|n'ai rien|n'ai) (?:pu )?(?:trouve|trouver)(?:e|es)? (?:de|d'|aucun|rien)?|je n'ai (?:pas|rien) trouve|je ne (?:peux|trouve) pas (?:vous dire|trouver|de |d'|repondre)|aucun(?:e)? (?:resultat|information)",
    // de
    '(?:das |dies |es )?(?:weiss ich|ich weiss|wissen wir) (?:es |das |leider )*nicht|(?:keine|nicht genug(?:end)?) (?:\\p{L}+ )?(?:informationen?|daten|angaben|details|kenntnisse|treffer|ergebnisse|antwort)|(?:nichts|keine?n?s? \\p{L}+)(?: \\p{L}+){0,4} (?:gefunden|finden)|nicht (?:finden|sagen|beantworten)',
    // nl pl
    '(?:ik )?weet (?:ik )?(?:het |dat )?(?:helaas )?niet|geen (?:informatie|gegevens|details|antwoord|resultaten|idee)|(?:niets|geen \\p{L}+)(?: \\p{L}+){0,3} (?:gevonden|vinden)|nie wiem|nie mam (?:\\p{L}+ )?(?:informacji|danych|wiedzy|pojecia)|nie (?:znalazlem|znalazlam|moge znalezc|udalo (?:mi )?sie znalezc)|brak (?:informacji|danych|wynikow)',
    // ru
    '(?:я )?не (?:знаю|нашел|нашла|нашли|могу (?:найти|сказать|ответить)|располагаю|владею информацией)|нет (?:\\p{L}+ )?(?:информации|данных|сведений|ответа)|не удалось найти|ничего не (?:нашел|нашла|найдено)',
    // tr
    'bilmiyorum|bilgim yok|bulamadim',
  ],
  [
    '(?:不知道|不清楚|不太清楚|不了解|不确定)(?!您|你)',
    '没有(?:查到|找到|查询到|搜到|搜索到|符合|满足|这样|这个|那样|合适|相关|相应|关于|.{0,10}(?:的信息|信息|资料|数据|记录|符合|满足))',
    '(?:查|找|搜)(?:询|索)?不到|未(?:查|找|搜)(?:询|索)?到|无法(?:回答|确定|得知|查到|找到|提供.{0,8}(?:信息|资料|数据)|获取.{0,8}(?:信息|数据))',
    '(?:还真|真的?|完全符合.{0,8}|满足.{0,14})没有|没有(?:.{0,10})?(?:这么|那么|完全|特别)|没有(?:特别|太|什么)?(?:适合|合适)|(?:这么|那么).{0,12}没有',
    '(?:抱歉|报歉|不好意思|遗憾|不巧|对不起)[^。！？]{0,24}没有(?=[^。！？]{0,40}(?:推荐|符合|不过|这样|您可以|你可以))',
    '(?:わかりません|分かりません|存じません|存じ上げません|知りません|情報(?:が|は)(?:あり|ござい)ません|見つかりません|見つけられ(?:ません|ない)|データ(?:が|は)ありません|不明です)',
    '(?:모르겠|알\\s?수\\s?없|정보가\\s?없|찾을\\s?수\\s?없|찾지\\s?못)',
  ],
);

// A refusal on principle, in words of harm, law, taste or policy.
export const POLICY = anyOf(
  [
    'harm(?:ful|ing)?|illegal(?:ly)?|unlawful|unethical|ethical|immoral|inappropriate|offensive|violen(?:ce|t)|dangerous|hate(?:ful)?|discriminat\\p{L}+|derogatory|disrespectful|stereotyp\\p{L}+|racis[mt]|sexual(?:ly)?|explicit|malicious|unsafe|guidelines|polic(?:y|ies)|principles|condone|endorse|promote|encourage|respectful|against (?:my|the|our) \\p{L}+|misinformation|privacy|sensitive|defamatory|weapons?|crimes?|criminal',
    'personal (?:opinions?|beliefs?|feelings?|experiences?|preferences?|emotions?)|(?:have|possess) (?:\\w+ )?(?:opinions?|beliefs?|feelings?|emotions?|preferences?|consciousness|desires)|take sides|political(?:ly)?',
    'ilegal|inapropiad\\p{L}+|danin\\p{L}+|illegale|nuisible|illegal\\p{L}*|schadlich|szkodliw\\p{L}+|nielegaln\\p{L}+|незаконн\\p{L}+|вредн\\p{L}+',
  ],
  ['违法|非法|有害|不道德|不当|暴力|歧视|違法|有害|不適切|불법|유해'],
);
/** "I can't help with that" and no more: a refusal as a rule, and it does not say why. */
export const BARE_REFUSAL =
  /^(?:(?:i'm |i am )?(?:very |so |really )?sorry[,. ]+(?:but )?)?(?:i |we )?(?:can't|cannot|can not|won't|am unable to|'m unable to|am not able to|'m not able to) (?:help|assist|fulfil[a-z]*|comply)(?: you)?(?: with)?(?: (?:that|this|your))?(?: request)?\W*$/u;
export const CLARIFYING = anyOf(
  [
    "(?:need|require|provide|give|have|share|without)(?: me)?(?: with)? (?:a (?:little|bit) )?(?:more|additional|further|some more|enough) (?:context|information|details?|specifics|clarification)[^.]{0,200}(?:question|to (?:help|assist|give|provide|answer)|request|you(?:'re| are) (?:asking|referring))",
    "(?:do not|don't|didn't|did not|not sure (?:that )?i|cannot|can't|couldn't) (?:quite |fully |really )?(?:(?:understand|follow|catch) (?:what|your|the|that|you)|get (?:what|you(?!r)))|not sure what you|(?:could|can|would) you (?:please )?(?:clarify|rephrase|explain what|repeat|specify)|don't know what you(?:'re| are)? (?:mean|talking|asking|want|refer)|what do you mean",
    '(?:podrias|puede|puedes|podria|poderia|pode|potresti|puo|pouvez-vous|pourriez-vous|konnen sie|kannst du|kunt u) (?:\\p{L}+ ){0,3}?(?:aclarar|explicar|repetir|reformular|esclarecer|chiarire|preciser|reformuler|prazisieren|wiederholen|verduidelijken)',
  ],
  ['(?:请|能).{0,6}(?:提供更多|说明|具体说|澄清|再说)|もう少し詳しく|詳しく教えて'],
);

/** What the head alone finds is an action when one is named, else information. */
export const ACTION = anyOf(
  [
    '(?:re)?(?:book|reserv|schedul|cancel|order|purchas|pay|transfer|send|open|play|process|updat|chang|creat|set up|delet|access|plac|execut|perform|task)\\p{L}*',
  ],
  ['预订|预定|取消|打开|发送|购买|支付|执行|更新|修改'],
);

/**
 * Regret and inability in any form: too little to decide on, enough to rank a message above one without.
 */
export const REGRET = anyOf(
  [
    "sorry|unfortunately|afraid|apolog\\p{L}+|unable|can't|cannot|can not|couldn't|could not|(?:don't|do not) (?:know|have)|not (?:able|available|possible)|no longer",
    'lo siento|lamento|lamentablemente|desafortunadamente|infelizmente|desculp\\p{L}+|no (?:puedo|tengo|hay)|nao (?:posso|tenho|ha)|purtroppo|mi dispiace|non (?:posso|ho|ci sono)|desolee?|malheureusement|je ne (?:peux|sais|suis) pas|leider|tut mir leid|kann (?:\\p{L}+ ){0,3}nicht|helaas|het spijt me|kan (?:\\p{L}+ ){0,3}niet|niestety|przykro|nie (?:moge|mam|wiem)|к сожалению|извините|не (?:могу|знаю)|нет (?:информации|данных)|maalesef|ne yazik ki|uzgunum',
  ],
  [
    '抱歉|对不起|不好意思|遗憾|无法|没有|不能|没法|不知道|申し訳|すみません|残念ながら|でき(?:ません|ない)|わかりません|ありません|죄송|없습니다|수\\s?없',
  ],
);
