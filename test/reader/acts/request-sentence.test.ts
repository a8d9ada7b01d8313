import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { requestOf } from '../../../src/reader/acts/request-sentence.ts';

const REPLIES = [
  'Thank you so much for your help!',
  'hi',
  'Good morning, how are you today?',
  'yes please',
  'No, nothing else.',
  'ok bye',
  '42',
  'two people',
  'tomorrow at 6 pm',
  'My name is Karen Smith',
  'account number is 12345',
  'That is wrong',
  'This is really frustrating!',
  'OK. A bit disappointing.',
  "C'est nul.",
  'Que decepção',
  'are you a robot?',
  'what is your name',
  'tell me a joke',
  'gracias, eso es todo',
  'Merci beaucoup',
  'ja, bitte',
  'Obrigado!',
  '谢谢你',
  'はい、ありがとうございます',
  'ありました。とても助かりました!',
  'Deu certo agora, obrigado!',
  'Ya funciona, gracias',
  'Jetzt geht es, danke',
  'Теперь работает',
  'спасибо',
  '',
  '!?…',
  '👍',
];

const STILL_BROKEN = [
  'A impressora ainda não funcionou',
  'ora la stampante non funziona più',
  'Jetzt geht der Drucker nicht mehr',
  'De printer werkt nu niet',
  'my router is still not working',
  'still waiting for my refund',
  'I tried to get the cheaper one',
  'my day pass is terrible at the gate',
];

const REACTIONS = [
  'I already tried that, still not working',
  'ridiculous, days of waiting',
  'same error again',
  'Ainda não funcionou',
  'ora non funziona più',
  'Jetzt geht es nicht mehr',
  'Het werkt nu niet',
  'schon probiert, klappt trotzdem nicht',
  'ya lo intenté, sigue igual',
  'уже пробовала, не помогло',
  '还是不行',
  'まだ動きません',
];

const NAMING_NOTHING = [
  'ord-5512-x',
  'KD 5519 203',
  'ana@example.org',
  'https://example.org/item/5',
  "I'm Priya",
  'This is Tom Hallberg.',
  'Kind regards, Tom',
  'Mit freundlichen Grüßen',
  'Sent from my tablet',
  'Von meinem Telefon gesendet',
];

describe('requestOf', () => {
  for (const text of STILL_BROKEN)
    it(`keeps what does not work: ${text}`, () => equal(requestOf(text), text));

  for (const text of REPLIES)
    it(`sees no request in: ${JSON.stringify(text)}`, () => equal(requestOf(text), ''));

  for (const text of [...REACTIONS, ...NAMING_NOTHING])
    it(`sees nothing that could be a topic in: ${text}`, () => equal(requestOf(text), ''));

  it('keeps what is asked beside a reaction', () => {
    equal(requestOf('I already tried that. The screen stays black.'), 'The screen stays black.');
    equal(requestOf('Ridiculous! I want my money back'), 'I want my money back');
  });

  it('drops greeting, name and politeness', () => {
    equal(
      requestOf('Hi, my name is Karen. I am here to report a billing issue. Could you please help?'),
      'I am here to report a billing issue.',
    );
    equal(requestOf('Yeah, hi, I need to cancel my plan'), 'I need to cancel my plan');
    equal(requestOf('Hola, quiero cancelar mi pedido'), 'quiero cancelar mi pedido');
    equal(requestOf('你好，我想取消订单'), '我想取消订单');
  });

  it('takes what is asked after thanks, confirmations and complaints', () => {
    equal(
      requestOf('Great, thanks. I also need a taxi to the station.'),
      'I also need a taxi to the station.',
    );
    ok(requestOf('That is wrong, I want a refund').includes('refund'));
    equal(requestOf('This is ridiculous. Where is my parcel?'), 'Where is my parcel?');
  });

  it('keeps the most request-like sentences of a long turn, in their order', () => {
    const turn =
      'Hello there, good evening. I was on a trip with my family in the mountains and the weather was lovely ' +
      'all week. ' +
      'We came back on Sunday and everybody was tired and the children went straight to bed after dinner. ' +
      'Can you tell me how to change the delivery address of my order? It was supposed to go to my office. ' +
      'The office has moved to another building across the street since then and the old one is empty now. Thank you.';
    const request = requestOf(turn);
    ok(request.includes('change the delivery address'));
    ok(!request.includes('Hello') && !request.includes('Thank'));
    ok(request.split(' ').length <= 60);
  });

  it('leaves out sentences that only give data', () => {
    for (const [turn, request] of [
      [
        'Hello, I want to change the card on my account. My full name is Ana Moreno, the customer number ' +
          'linked to it is 58120934 and you can call me at 555-010-7788.',
        'I want to change the card on my account.',
      ],
      ['Can I have a copy of the contract? Mine is ana@example.org.', 'Can I have a copy of the contract?'],
      ['My login fails. My number is four one one seven nine.', 'My login fails.'],
      ['I lost my luggage. The name on the ticket is J-O-H-A-N-S-E-N.', 'I lost my luggage.'],
      ['Ich brauche eine Rechnung. Meine Kundennummer ist 4711 0815.', 'Ich brauche eine Rechnung.'],
      ['Quiero un reembolso. El pedido es 90210-77.', 'Quiero un reembolso.'],
    ] as const)
      equal(requestOf(turn), request);
  });

  it('keeps sentences whose numbers, names and times say what is wanted or wrong', () => {
    for (const turn of [
      'My order number 5512908 has not arrived.',
      'I want to pay invoice 20260114. How much is it?',
      'I need a table. It is at 10:30 in the hall.',
      'I bought a house. The price was 250,000 dollars.',
      'My card was declined. The error is 50000 times the same.',
    ])
      ok(requestOf(turn).startsWith(turn.split('. ')[0] ?? ''), turn);
    equal(
      requestOf('My customer number is 58120934 and my card'),
      'My customer number is 58120934 and my card',
    );
  });

  it('is not misled by an offer of help at the end of the sentence that asks', () => {
    const turn = 'I would like to file a claim for my bike, can you help me? It has a blue frame.';
    ok(requestOf(turn).startsWith('I would like to file a claim for my bike'));
    equal(requestOf('Can you help me? The screen stays black.'), 'The screen stays black.');
  });

  it('takes a turn with content in any language for a request', () => {
    for (const text of [
      'Nataka kubadilisha nenosiri langu',
      'मुझे अपना ऑर्डर रद्द करना है',
      'أريد إلغاء طلبي',
      'ฉันต้องการยกเลิกคำสั่งซื้อ',
      '주문을 취소하고 싶어요',
      'Θέλω να ακυρώσω την παραγγελία μου',
    ]) {
      ok(requestOf(text) !== '', text);
    }
  });
});
