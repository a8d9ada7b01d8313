/**
 * Tells soon that a text holds no phrase of a gap: every such phrase holds a negation, or one of a few words. Most turns
 * hold none. Covered by test/enrich/gap-triggers.test.ts, which tries all examples of the lexicon.
 */

/** Matches whatever may say that something is missing, and much else. */
export const MAY_CLAIM = new RegExp(
  [
    // English.
    String.raw`n['’‘ʼ´\u0060]t\b|\b(?:no|not|nothing|never|none|nobody|neither|cannot|cant|dont|couldnt|wont|isnt|doesnt|didnt|arent|wasnt|havent)\b|\bun(?:able|aware|sure|certain|familiar|known|successful|available)|\bfail|declin|denied|reject|incomplete|beyond|outside|\bout of\b|exceed|impossib|\black|without|\bonly\b|limited|powerless|guess|sold out|booked|taken|problem|issue|error|trouble|expertise|still learning|hidden|invisible|inaccessible|in the dark|silent|quiet|little|do is|human|yet to|possible here|supported here|has to be done|any idea|\bends?\b|ended|stops|\bcut|empty|zero|\ball i\b`,
    // German, Dutch.
    String.raw`kein|nicht|nichts|au(?:ß|ss)er|jenseits|übersteig|überfragt|fehl|ohne|gebunden|raten|spekul|vermuten|verborgen|\bnur\b|passen|endet|reicht|scheiter|ablehn|unmöglich|lediglich|leider|uberfragt|niet|geen|niks|buiten|boven|onmogelijk|mislukt|weinig|zonder|alleen|loopt|stopt`,
    // Spanish, Portuguese, Italian, French.
    String.raw`\bn[oa]?[no]?\b|\bnão\b|\bsin\b|\bsem\b|\bsans\b|fuera|\bfora\b|fuori|más allá|além|oltre|al di l|hors|en dehors|delà|impossib|imposib|impossív|descono|desconheç|ignor|carezco|escapa|foge|esula|manc|senza|nessun|ning[uú]|nenhum|\bs[oó]lo\b|\bsó\b|apenas|\bn['’]|\bne\b|\bpas\b|aucun|dépass|incapab|\brien\b|fall[ióo]|falhou|recus|rechaz|fallid|fallo|échou|echou|fallit`,
    // Polish, Turkish.
    String.raw`\bnie\b|nic\b|poza|wykracza|przekracza|trudno|brak|\bbez\b|żad|kończy|sięga|ogranicz|niemożliw|niemozliw|sięga|siega|obejmuje|konczy|zad|yok|değil|bulunm|[ae]m[ıi]yor|[ae]m[ae]m\b|[ae]m[ae]y|[ae]m[ae]d[ıi]|m[ıiuü]yor|m[ae]m[ıi]ş|mesi|haberim|emin|bilm|dışında|ötesinde|imkansız|başarısız`,
    // Russian.
    String.raw`не|нет|нич|нельзя|предел|рамки|\bвне|затрудн|без|лиш|только|ограничен|заканчива|отклон`,
    // Arabic, Persian, Hindi.
    String.raw`لا|لم|لن|ليس|لست|لسنا|ما|مش|غير|خارج|تعذر|تجاوز|يستحيل|فتقر|فشل|دون|تقتصر|محدود|تنتهي|نم|نیست|ندار|نشد|نکرد|نیافت|نتوان|نا|فراتر|بی|نداده|نگفته|نیا|نن|پیدا|اطلاع|خبر|مطمئن|ممکن|مقدور|میسر|قادر|مجاز|امکان|नही|असमर्थ|बाहर|विफल|असफल`,
    // Chinese, Japanese, Korean.
    String.raw`[不没沒无無未]|超[出过]|只能|失败|失敗|有限|仅限|限于|缺|截[止至]|ません|ない|かね|できず|無理|対象外|範囲外|対応外|限られ|なし|対応|範囲|知識|記載|情報|データ|資料|없|못|않|불가|어렵|모르|모릅|몰라|실패|밖|벗어|까지|아닙|제게|있지`,
  ].join('|'),
  'iu',
);
