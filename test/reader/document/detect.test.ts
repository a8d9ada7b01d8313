import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detectLanguage } from '../../../src/reader/document/detect.ts';

function tells(cases: readonly (readonly [text: string, language: string | null])[]): void {
  for (const [text, language] of cases) {
    it(`says ${language ?? 'nothing'} of: ${text.slice(0, 60)}`, () => equal(detectLanguage(text), language));
  }
}

describe('detectLanguage', () => {
  describe('of whole sentences', () => {
    tells([
      ['I would like to know when my order will arrive', 'en'],
      ['¿Podría decirme cuándo llegará mi pedido?', 'es'],
      ['Je voudrais savoir quand ma commande va arriver', 'fr'],
      ['Ich möchte wissen, wann meine Bestellung ankommt', 'de'],
      ['Vorrei sapere quando arriverà il mio ordine', 'it'],
      ['Gostaria de saber quando o meu pedido vai chegar', 'pt'],
      ['Я хотел бы узнать, когда придёт мой заказ', 'ru'],
      ['我想知道我的订单什么时候能到，谢谢你们的帮助', 'zh'],
    ]);
  });

  describe('of what people type', () => {
    tells([
      ['dishwasher leaks water', 'en'],
      ['spülmaschine verliert wasser', 'de'],
      ['lave vaisselle qui fuit', 'fr'],
      ['vaatwasser lekt water', 'nl'],
      ['bulaşık makinesi su akıtıyor', 'tr'],
      ['bulasik makinesi su akitiyor', 'tr'],
      ['la lavastoviglie perde acqua', 'it'],
      ['el lavavajillas pierde agua', 'es'],
      ['zmywarka przecieka od wczoraj', 'pl'],
      ['máy rửa bát bị rò nước', 'vi'],
      ['CUÁNTO CUESTA ARREGLAR LA PUERTA', 'es'],
      ['das update vom router bricht immer ab', 'de'],
      ['meri gaadi start nahi ho rahi', 'hi'],
    ]);
  });

  describe('of neighbours', () => {
    tells([
      ['kulkasnya tidak dingin, kenapa ya', 'id'],
      ['peti sejuk tak sejuk, macam mana nak baiki', 'ms'],
      ['kjøleskapet blir ikke kaldt, hva gjør jeg', 'no'],
      ['køleskabet bliver ikke koldt, hvad gør jeg', 'da'],
      ['kylskåpet blir inte kallt, vad gör jag', 'sv'],
      ['lednička vůbec nechladí, co s tím', 'cs'],
      ['chladnička vôbec nechladí, čo s tým', 'sk'],
      ['холодильник не холодить, що робити', 'uk'],
      ['холодильник не холодит, что делать', 'ru'],
      ['хладилникът не изстудява, какво да правя', 'bg'],
      ['یخچال سرد نمی‌کند، چه کار کنم', 'fa'],
      ['الثلاجة لا تبرد، ماذا أفعل', 'ar'],
      ['فریج ٹھنڈا نہیں کر رہا کیا کروں', 'ur'],
      ['फ्रिज ठंडा नहीं कर रहा क्या करूं', 'hi'],
    ]);
  });

  describe('by script', () => {
    tells([
      ['退款', 'zh'],
      ['冷蔵庫が壊れた', 'ja'],
      ['テレビ', 'ja'],
      ['냉장고 고장', 'ko'],
      ['ตู้เย็นเสีย', 'th'],
      ['המקרר התקלקל', 'he'],
      ['χάλασε το ψυγείο', 'el'],
      ['ফ্রিজ নষ্ট', 'bn'],
      ['iphone15屏幕坏了', 'zh'],
      ['Samsung Galaxy S24 画面が割れた', 'ja'],
      ['what does 你好 mean in english', 'en'],
      ['د یخچال ستونزه ده څه وکړم ښه', null],
    ]);
  });

  describe('where nothing tells', () => {
    tells([
      ['', null],
      ['1234567890 1234567890', null],
      ['?!?!?! 👍🏽 🎉', null],
      ['Kühlschrank', null],
      ['refrigerator', null],
      ['aaaaaaaa aaaaaa', null],
      ['Sony Bravia', null],
      ['Philips Airfryer XXL', null],
      ['https://example.org/help/where-is-my-order', null],
      ['www.example.org/wo/ist/mein/paket jan@example.org', null],
      ['ORD-2291-X getUserById() order_status=NULL', null],
      ['```\nwhile the list is not empty do this\n```', null],
      ['你', null],
    ]);
  });

  it('reads past links and code to what was written', () => {
    equal(detectLanguage('https://example.org/order/my-items geht bei mir nicht auf'), 'de');
    equal(detectLanguage('why does this fail\n```\nconst größe = liste.länge;\n```'), 'en');
  });

  it('keeps what it told before until another language is clear', () => {
    const languages = [
      detectLanguage('mein paket ist nicht da', null),
      detectLanguage('mein paket ist nicht da\nok', 'de'),
      detectLanguage('1234', 'de'),
      detectLanguage('hvor er pakken min', 'sv'),
      detectLanguage('ok bye\nsorry, ich kann leider nur deutsch. wann kommt mein paket endlich an?', 'en'),
    ];
    deepEqual(languages, ['de', 'de', 'de', 'sv', 'de']);
  });

  it('decides from the beginning of a long text', () => {
    const german = 'wann kommt mein paket endlich an? '.repeat(40);
    equal(detectLanguage(german + 'where is my parcel? '.repeat(1000)), 'de');
  });
});
