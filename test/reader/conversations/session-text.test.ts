import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionText, type TurnPlace } from '../../../src/reader/conversations/session-text.ts';
import { ByteReader, ByteWriter } from '../../../src/domain/byte-codec.ts';
import type { Enrichment, GapType } from '../../../src/domain/facts.ts';
import type { SignalKey } from '../../../src/domain/signal-kinds.ts';
import { redact } from '../../../src/reader/personal/redact.ts';
import { certain } from '../../support/signals.ts';

function enrichment(kind: Enrichment['kind'], request = '', signals: readonly SignalKey[] = []): Enrichment {
  return { kind, request, vector: null, sentences: [], signals: certain(...signals), gap: null };
}

/** A conversation, turn by turn. */
class Talk {
  readonly text = new SessionText();

  asks(content: string, place?: TurnPlace): this {
    this.text.addUserTurn(content, enrichment('request', content), place);
    return this;
  }

  says(content: string, ...signals: SignalKey[]): this {
    this.text.addUserTurn(content, enrichment('reply', '', signals));
    return this;
  }

  hears(content: string, gap: GapType | null = null): this {
    this.text.addAssistantTurn(content, redact, gap);
    return this;
  }

  summary(language: string | null = 'en'): string | null {
    return this.text.summary(language);
  }
}

function talk(): Talk {
  return new Talk();
}

function titleOf(content: string): string | null {
  return talk().asks(content).text.title('en');
}

const detect = (sample: string): string | null => (sample.length < 24 ? null : 'en');

describe('the title of a session', () => {
  it('writes "I" as English does, and in no other language', () => {
    equal(talk().asks('how do i delete my account').text.title('en'), 'How do I delete my account');
    equal(talk().asks('dove vedo i miei ordini').text.title('it'), 'Dove vedo i miei ordini');
  });

  it('holds no greeting that comes again', () => {
    equal(titleOf('Hi again, have you received my boots?'), 'Have you received my boots');
  });

  it('is the request without what only leads up to it', () => {
    deepEqual(
      [
        'Hi, where is my parcel?',
        'Good morning Dana, I would like to know whether my visa has arrived, thanks',
        'Hello, please cancel my booking for Friday, thank you!',
        'ich möchte bitte meine Rechnung als PDF, danke',
        'Bonjour, je voudrais savoir si le magasin ouvre dimanche svp',
        '你好，请问几点开门？谢谢',
        'すみません、パスワードを忘れました',
      ].map(titleOf),
      [
        'Where is my parcel',
        'Whether my visa has arrived',
        'Cancel my booking for Friday',
        'Meine Rechnung als PDF',
        'Si le magasin ouvre dimanche',
        '几点开门',
        'パスワードを忘れました',
      ],
    );
  });

  it('keeps every word that changes what is meant', () => {
    for (const content of [
      'No invoice received for the last order',
      'There is an unknown charge on my card',
      "Can't log in since the update",
      'Coffee without sugar keeps arriving with sugar',
      'Never got the second parcel',
      'Ich habe keine Bestätigung bekommen',
      'No me llega el código',
      'Je ne reçois plus les factures',
      'SIM card is not recognised',
      'Mi puoi mandare la fattura che non trovo',
    ])
      equal(titleOf(content), content);
  });

  it('is the wish that a clause only leads up to', () => {
    equal(titleOf('I had a long day, I want to book a massage'), 'Book a massage');
    equal(titleOf('While in Bergen I need to find a hotel by the harbour'), 'Find a hotel by the harbour');
    equal(
      titleOf('When I want to log in, the page stays white'),
      'When I want to log in, the page stays white',
    );
  });

  it('is not cut between things, and not before an article or a preposition', () => {
    equal(
      titleOf('I need help looking up some free, child friendly, quiet attractions in the old town'),
      'Looking up some free, child friendly, quiet attractions…',
    );
    equal(
      titleOf('Which inexpensive laptop would you recommend me to train the models with'),
      'Which inexpensive laptop would you recommend me to train…',
    );
  });

  it('is cut at a clause, and not where what follows says otherwise', () => {
    equal(
      titleOf('The washing machine leaks under the door, and the repair man did not come on Monday'),
      'The washing machine leaks under the door',
    );
    equal(
      titleOf('The tracking page of the courier says delivered, but I have not received any parcel'),
      'I have not received any parcel',
    );
    equal(
      titleOf('Although the technician promised to come this morning, nobody has been here all day'),
      'Nobody has been here all day',
    );
  });

  it('is cut at a word with an ellipsis, never after a preposition, an article or a negation', () => {
    for (const [content, last] of [
      ['Compare photosynthesis and respiration of aquatic plants in the northern seas', 'aquatic plants'],
      ['Explain why the green recycling containers of our street were not emptied', 'street'],
      ['Warum wurden die grünen Behälter in unserer Nebenstraße heute nicht geleert', 'Nebenstraße'],
    ] as const) {
      const title = titleOf(content) ?? '';
      ok(title.length <= 60);
      ok(title.endsWith(`${last}…`), title);
    }
  });

  it('keeps whole characters', () => {
    const title = titleOf(`compare ${'😀'.repeat(100)}`) ?? '';
    ok(title.isWellFormed() && title.length <= 60);
    equal(titleOf('iPhone screen is black'), 'iPhone screen is black');
  });

  it('is null while the user has named nothing, and what was said when nothing is asked', () => {
    const open = talk().hears('Welcome! How can I help?');
    deepEqual([open.text.title('en'), open.summary(), open.text.language(detect)], [null, null, null]);
    deepEqual([open.says('hello').text.title('en'), open.summary()], [null, null]);
    open.says('my sister paints wonderful watercolours');
    equal(open.text.title('en'), 'My sister paints wonderful watercolours');
    open.asks('where can I buy canvas boards?');
    equal(open.text.title('en'), 'Where can I buy canvas boards');
  });

  it('is the first request, unless another takes more turns or the first says nothing', () => {
    const vague = talk().asks('I have a question').asks('How do I connect my printer to the network?');
    equal(vague.text.title('en'), 'How do I connect my printer to the network');
    const both = talk().asks('Do you ship to Norway?').hears('Yes, in six days.');
    both.asks('also my last order came without the charger').hears('Which order was it?');
    equal(both.text.title('en'), 'Do you ship to Norway');
    both.says('the second').hears('Was the box open?').says('closed').hears('We send a new charger today.');
    equal(both.text.title('en'), 'My last order came without the charger');
  });

  it('holds no sounds of hesitation', () => {
    deepEqual(
      [
        'I, uh, need some help with moving my piano',
        'Kann ich, ähm, die Rechnung später zahlen?',
        'Je voudrais, euh, annuler mon cours de danse',
        'Wann fährt der Zug um acht?',
      ].map(titleOf),
      [
        'Moving my piano',
        'Kann ich die Rechnung später zahlen',
        'Annuler mon cours de danse',
        'Wann fährt der Zug um acht',
      ],
    );
  });

  it('is the clause that says what is wanted', () => {
    deepEqual(
      [
        'Summer is coming up soon, can you find me a wooden house by a lake with a boat',
        'The lamp came this morning from the shop and I would like to exchange a broken switch',
        'I want to order the blue garden chair for my terrace, but there is no button on the page',
      ].map(titleOf),
      [
        'Can you find me a wooden house by a lake with a boat',
        'Exchange a broken switch',
        'I want to order the blue garden chair for my terrace…',
      ],
    );
  });

  it('is the first request when that was done, however long the next one takes', () => {
    const two = talk().asks('Book a train to Porto for Monday').hears('Your train to Porto is booked.');
    two.asks('I am also looking for a quiet hotel by the river').hears('In which price range?');
    for (const answer of ['cheap', 'with breakfast', 'two nights']) two.says(answer).hears('Anything more?');
    equal(two.text.title('en'), 'Book a train to Porto for Monday');
  });

  it('says nothing of numbers, addresses and signatures', () => {
    equal(titleOf('Paczka przyszła uszkodzona, zamówienie 7710032'), 'Paczka przyszła uszkodzona');
    equal(
      titleOf("Bonjour, je n'ai pas reçu ma commande. Cordialement, Thierry, 14 rue des Lilas"),
      "Je n'ai pas reçu ma commande",
    );
  });
});

describe('the summary of a session', () => {
  it('takes a question in the words of a request for that request', () => {
    const declined = talk()
      .asks('card declined again!!')
      .hears('Is there a pending approval in your banking app?')
      .asks('You asked me that last time. Why is my card declined?')
      .hears('The bank refused the payment without a reason.');
    equal(declined.summary(), 'Card declined again!! – The bank refused the payment without a reason.');
  });

  it('takes no apology and no courtesy for an answer', () => {
    for (const [asked, empty] of [
      ['my parcel is not here', "I'm sorry!"],
      ['the stove has a dent', 'Oh no, I am so sorry.'],
      ['the code is invalid', 'I see.'],
      ['mein Paket fehlt', 'Das tut mir leid.'],
    ] as const)
      equal(talk().asks(asked).hears(empty).summary()?.includes(empty), false);
    equal(
      talk().asks('do you have tents').hears("I'm sorry, we have none.").summary(),
      "Do you have tents. – I'm sorry, we have none.",
    );
  });

  it('tells what was asked, what was answered to it and how it ended', () => {
    const session = talk().says('hello').asks('I want to cancel my booking for Friday');
    equal(session.summary(), 'I want to cancel my booking for Friday. – Not answered yet.');
    session.hears(
      "Hi! I'm happy to help you with that. Which one? I have cancelled booking B for you. Have a nice day!",
    );
    const expectedSummary = 'I want to cancel my booking for Friday. – I have cancelled booking B for you.';
    equal(session.summary(), `${expectedSummary} – Solved.`);
    session.says('great, thanks', 'gratitude');
    equal(session.summary(), `${expectedSummary} – Solved.`);
    session.says('it still stands in my account', 'negative-feedback');
    equal(session.summary(), expectedSummary);
  });

  it('tells up to three requests with their answers', () => {
    const session = talk().asks('Where do I enter sick leave?').hears('In the portal under Absences.');
    session.asks('Do I need a doctors note?').hears('Only from the fourth day.');
    session.asks('Can I carry over vacation days?').hears('Yes, up to five days.');
    equal(
      session.summary(null),
      'Where do I enter sick leave? – In the portal under Absences. · Do I need a doctors note? – ' +
        'Only from the fourth day. · Can I carry over vacation days? – Yes, up to five days.',
    );
    session.asks('Which holidays are public?').hears('Twelve of them.');
    equal(session.summary()?.split('?').length, 4);
  });

  it('tells the requests of one turn together', () => {
    const session = talk().asks('Where is the pool? How warm is the water?');
    session.hears('The pool is behind the park. The water has 24 degrees.');
    equal(
      session.summary(null),
      'Where is the pool? How warm is the water? – The pool is behind the park. The water has 24 degrees.',
    );
  });

  it('takes the sentence that speaks to the request, and no question back', () => {
    const question = talk().asks('I need a taxi to the airport').hears('Sure! At what time?');
    equal(question.summary(null), 'I need a taxi to the airport.');
    const answered = question
      .says('at six')
      .hears('Thank you for waiting. Your taxi to the airport comes at 5:50.');
    equal(answered.summary(null), 'I need a taxi to the airport. – Your taxi to the airport comes at 5:50.');
    const list = talk().asks('Which documents do I need for a passport?');
    list.hears(
      'Here is what we need:\n- A photo\n- Your birth certificate\nAll documents must be originals.',
    );
    match(list.summary(null) ?? '', /– Here is what we need: A photo; Your birth certificate\.$/);
  });

  it('goes on with what is wanted after a question beside it', () => {
    const room = talk()
      .asks('I need a room in Porto for Friday')
      .hears('The Lapa has a room for Friday. Would you like it?')
      .asks('Is breakfast included there?')
      .hears('Breakfast costs nine euros. Would you like the room?')
      .says('yes please')
      .hears('It is booked.');
    equal(
      room.summary(null),
      'I need a room in Porto for Friday. – The Lapa has a room for Friday. It is booked. · ' +
        'Is breakfast included there? – Breakfast costs nine euros.',
    );
    equal(room.text.title('en'), 'I need a room in Porto for Friday');
  });

  it('takes no answer to what it does not tell for one to what it does', () => {
    const session = talk().asks('Find me a museum for children').hears('The Toy Museum has games.');
    session.asks('Where is it?').hears('Near the old harbour, behind the station for boats.');
    match(session.summary(null)!, /– The Toy Museum has games\.$/);
    session.says('great, thank you', 'gratitude').hears('See you at the museum for children!');
    match(session.summary(null)!, /– The Toy Museum has games\.$/);
  });

  it('is what was found after all, and not handed over where that was only offered', () => {
    const session = talk().asks('How much did I pay for the blue lamp?');
    session.hears("I couldn't find the lamp. If that goes on, I can transfer you to a colleague.");
    session.asks('I wrote the wrong shop, it was the one in Porto.').hears('You paid 40 euros for the lamp.');
    session.says('thanks', 'gratitude');
    match(session.summary()!, / – You paid 40 euros for the lamp\. – The user reacted positively\.$/);
  });

  it('does not tell what the user corrected', () => {
    const session = talk().asks('Book a boat tour').hears('Please confirm: a boat tour at nine on Monday.');
    session.says('No, on Tuesday').hears('Please confirm: a boat tour at nine on Tuesday.');
    session.says('yes').hears('Your tour is booked.');
    equal(session.summary(null), 'Book a boat tour. – A boat tour at nine on Tuesday. Your tour is booked.');
  });

  it('says how many requests it does not tell', () => {
    const session = talk();
    for (const thing of ['pool', 'sauna', 'garage', 'library', 'kitchen', 'garden', 'cellar'])
      session.asks(`Where is the old ${thing}?`).hears(`The old ${thing} is behind the gate.`);
    match(session.summary()!, / · Further requests: 4\.$/);
    equal(session.summary('de')!.endsWith(' · Weitere Anliegen: 4.'), true);
    equal(session.summary(null)!.split(' · ').length, 3);
  });

  it('tells nothing that the user has turned down', () => {
    const session = talk().asks('I am looking for a restaurant').hears('How about the Blue Door?');
    session.says('No, too expensive.').hears('Let me look for another.');
    equal(session.summary(null), 'I am looking for a restaurant.');
    session.hears('The Lime Tree has good soups.');
    equal(session.summary(null), 'I am looking for a restaurant. – The Lime Tree has good soups.');
  });

  it('is told in several languages that a proposal is turned down, or that others are asked for', () => {
    const answerAfter = (proposal: string, reply: string): boolean => {
      const session = talk().asks('Find me a hotel').hears(proposal);
      return (session.says(reply).summary(null) ?? '').includes(proposal.split('?')[0]!);
    };
    const proposal = 'The Blue Door has a room. Would you like it?';
    for (const reply of [
      'That is too expensive for me',
      'Das ist mir zu teuer',
      'Non, c’est trop cher',
      '太贵了',
    ])
      equal(answerAfter(proposal, reply), false, reply);
    for (const others of [
      'Do you have any others?',
      'Haben Sie noch andere?',
      '¿Hay otros?',
      '还有其他的吗？',
    ])
      equal(
        talk().asks('Find me a hotel').hears('The Blue Door is free.').asks(others).summary(null),
        'Find me a hotel.',
      );
    match(
      talk()
        .asks('Find me a hotel')
        .hears('The Blue Door is free.')
        .asks('I have no other number')
        .summary(null)!,
      /The Blue Door is free/,
    );
  });

  it('gives nobody’s answer to a question that it does not tell', () => {
    const session = talk().asks('I need a train to Bergen at nine').hears('It leaves from platform two.');
    session.asks('How long?').hears('It takes six hours to the coast.');
    match(session.summary(null)!, /platform two\.$/);
  });

  it('tells the latest of what the user asked others of', () => {
    const session = talk().asks('Can you find me a museum?').hears('The Harbour Museum is open today.');
    session.asks('Are there any others?').hears('There is also the Glass Museum.');
    match(session.summary(null)!, /– There is also the Glass Museum\.$/);
  });

  it('tells that what was confirmed could not be done', () => {
    const session = talk()
      .asks('I want to reserve a table')
      .hears('To confirm: a table for two at the Lime Tree today?');
    session.says('Yes, that is right.').hears('Sorry, I could not reserve the table.', 'TOOL');
    match(session.summary(null)!, /^I want to reserve a table\. – Sorry, I could not reserve the table\.$/);
  });

  it('takes what another wish gets for that one', () => {
    const session = talk()
      .asks('Find me a museum to visit')
      .hears('The Glass Museum is free. Shall I get tickets?');
    session.asks('No, not now. I need a house for the night.', { isAnswer: true, isRepeated: false });
    session.hears('There are ten houses by the lake.');
    equal(
      session.summary(null),
      'Find me a museum to visit. – The Glass Museum is free. · I need a house for the night. – There are ten houses by the lake.',
    );
  });

  it('shows no sentence that is mostly hidden', () => {
    const session = talk().asks('Where is the office?').hears('The address is •••, the phone number •••.');
    equal(session.summary(null), 'Where is the office?');
    const priced = talk()
      .asks('How much is the room?')
      .hears('The room costs 90 euros a night, the phone is •••.');
    equal(priced.summary(null), 'How much is the room? – The room costs 90 euros a night.');
  });

  it('is asked for a person in place of giving up', () => {
    const session = talk().asks('Refund the broken lamp').hears('Refunds take five days.');
    session.text.addUserTurn(
      'This leads nowhere. Can I speak to a human?',
      enrichment('request', 'Can I speak to a human?', ['gives-up']),
    );
    doesNotMatch(session.summary()!, /gave up/);
  });

  it('keeps the answer while the user asks further', () => {
    const session = talk().asks('Can you get my money back from the wrong account?');
    session.hears('I have asked the bank to return your money.').asks('and if not');
    session.hears('Then there is nothing left to do.');
    match(session.summary(null) ?? '', /– I have asked the bank to return your money\.$/);
  });

  it('says how it ended only where somebody said so', () => {
    const ending = (session: Talk): string => session.summary()?.split(' – ').at(-1) ?? '';
    const asked = (): Talk => talk().asks('Please refund the broken lamp');
    equal(ending(asked().hears('Refunds take five days.')), 'Refunds take five days.');
    equal(ending(asked().hears('I have no access to refunds.', 'TOOL')), 'The request could not be met.');
    const refused = asked().hears('Unfortunately lamps are excluded from refunds.');
    equal(ending(refused.says('ok thanks bye', 'gratitude')), 'The request could not be met.');
    const over = asked().hears("I can't do that, so I am transferring you to our returns team.", 'TOOL');
    equal(ending(over.says('thanks', 'gratitude')), 'Handed over to staff.');
    equal(
      ending(asked().hears('I am not able to transfer you to a colleague.')),
      'I am not able to transfer you to a colleague.',
    );
    equal(ending(asked().hears('Press the button.').says('forget it', 'gives-up')), 'The user gave up.');
    const solved = asked().hears('Press the button.').says('works', 'problem-solved');
    equal(ending(solved), 'Solved.');
    equal(ending(solved.asks('Which lamps can be dimmed with a remote?')), 'Not answered yet.');
    equal(ending(asked().says('thanks in advance', 'gratitude')), 'Not answered yet.');
  });

  it('tells what was done in place of a list or a step before it', () => {
    const table = talk()
      .asks('Please book a table for two in the old town')
      .hears('There are 14 tables for two in the old town. Shall I take the one at Rossi?')
      .says('yes, at eight')
      .hears('Your table at Rossi is booked. Anything else?');
    equal(
      table.summary(),
      'Book a table for two in the old town. – Your table at Rossi is booked. – Solved.',
    );
    const done = 'Ich habe den Flug umgebucht. Ihre Lieferadresse wurde geändert.';
    const address = talk()
      .asks('Bitte die Lieferadresse ändern')
      .hears('Die Lieferadresse steht im Kundenkonto. Wie lautet die neue?')
      .says('Feldweg 4')
      .hears(done)
      .asks('Kostet das etwas?')
      .hears('Die Lieferadresse im Kundenkonto ändern Sie immer kostenlos, die Lieferadresse bleibt.');
    match(address.summary(null)!, /Ihre Lieferadresse wurde geändert\./);
    const planned = talk()
      .asks('Cancel the cleaning on Friday')
      .hears('The cleaning on Friday costs nothing to cancel.')
      .says('good')
      .hears('You get a mail once the cleaning has been cancelled.');
    match(planned.summary(null)!, /costs nothing/);
  });

  it('says of what was done neither that it was given up nor that it was refused beside it', () => {
    const booked = (): Talk =>
      talk().asks('Book a room for Friday').hears('Your room for Friday has been booked.');
    equal(booked().says("that's it, I'm done here", 'gives-up').summary()?.includes('gave up'), false);
    const pets = booked().asks('Are dogs allowed in there?').hears('Unfortunately not.', 'KNOWLEDGE');
    equal(pets.summary()?.includes('could not be met'), false);
    const failed = talk().asks('Book a room for Friday').hears('I cannot do that.', 'KNOWLEDGE');
    match(failed.summary()!, /could not be met\.$/);
    match(failed.says('never mind then', 'gives-up').summary()!, /could not be met\.$/);
  });

  it('says that a request could not be met only where the summary does not tell its answer', () => {
    const late = talk().asks('Where is the lamp I ordered?').hears('The lamp is at the depot in Hull.');
    late.says('Is it lost?').hears('I cannot see that.', 'KNOWLEDGE');
    equal(late.text.outcome, 'not_possible');
    equal(late.summary(), 'Where is the lamp I ordered? – The lamp is at the depot in Hull.');
    const untold = talk().asks('Where is the lamp I ordered?').hears('I cannot see that.', 'KNOWLEDGE');
    match(untold.summary()!, /could not be met\.$/);
  });

  it('calls it solved when what was asked is done and nobody contradicts, never for thanks alone', () => {
    const paid = talk().asks('Reserva una mesa para hoy').hears('La mesa para hoy está reservada.');
    match(paid.says('vale, hasta luego').summary('es')!, /Resuelto\.$/);
    const no = talk().asks('Do you deliver to the islands?').hears('No, we deliver on land.');
    equal(no.says('ok thanks', 'gratitude').text.outcome, 'thanked');
    const yes = talk().asks('Do you deliver to the islands?').hears('Yes, every day.');
    equal(yes.says('ok thanks', 'gratitude').text.outcome, 'thanked');
    equal(paid.says('it was for tomorrow!', 'correction').text.outcome, 'open');
  });

  it('closes in the language of the session, and without a closing when there is none', () => {
    const session = talk()
      .asks('Wo ist mein Paket?')
      .hears('Ihr Paket kommt morgen.')
      .says('danke', 'gratitude');
    equal(
      session.summary('de'),
      'Wo ist mein Paket? – Ihr Paket kommt morgen. – Der Nutzer reagierte positiv.',
    );
    equal(session.summary('hi')?.endsWith('प्रतिक्रिया दी।'), true);
    equal(session.summary('fi'), 'Wo ist mein Paket? – Ihr Paket kommt morgen.');
    equal(session.summary(null), 'Wo ist mein Paket? – Ihr Paket kommt morgen.');
  });

  it('holds no word that nobody said, but for the closing', () => {
    const turns = [
      'Hi, my order 5512 came without the charger, could you send one?',
      "I'm sorry about that! We have posted a new charger to you. It arrives on Friday.",
    ];
    const session = talk().asks(turns[0]!).hears(turns[1]!).says('perfect', 'praise');
    const spoken = new Set(
      turns
        .join(' ')
        .toLowerCase()
        .match(/\p{L}+/gu),
    );
    const [asked, answer] = session.summary()!.split(' – ');
    for (const word of `${asked} ${answer}`.toLowerCase().match(/\p{L}+/gu)!) ok(spoken.has(word), word);
  });

  it('shows no personal data of an answer', () => {
    const session = talk().asks('Which number do I call?').hears('Please call +44 7785 016005 tomorrow.');
    equal(session.summary(null), 'Which number do I call? – Please call ••• tomorrow.');
  });

  it('joins sentences of scripts without spaces with their own full stop', () => {
    const session = talk().asks('我想取消订单').hears('订单已经取消。').says('谢谢', 'gratitude');
    equal(session.summary('zh'), '我想取消订单。 – 订单已经取消。 – 已解决。');
  });
});

describe('SessionText', () => {
  it('knows the language when there is enough text and then stops asking', () => {
    const session = talk();
    let asked = 0;
    const counting = (sample: string): string | null => {
      asked += 1;
      return detect(sample);
    };
    session.asks('short');
    equal(session.text.language(counting), null);
    session.asks('now this is quite long enough');
    equal(session.text.language(counting), 'en');
    session.asks('x '.repeat(200)).text.language(counting);
    session.asks('more and more and more').text.language(counting);
    equal(asked, 3);
  });

  it('tells the language turn by turn, whenever it is asked', () => {
    const asked: [string, string | null][] = [];
    const recording = (sample: string, before: string | null): string | null => {
      asked.push([sample, before]);
      return sample.includes('zwei') ? 'de' : before;
    };
    const session = talk().asks('one').asks('zwei').asks('three');
    equal(session.text.language(recording), 'de');
    deepEqual(asked, [
      ['one', null],
      ['one\nzwei', null],
      ['one\nzwei\nthree', 'de'],
    ]);
  });

  it('has an outcome once the user has asked for something', () => {
    const session = talk();
    equal(session.text.outcome, null);
    equal(session.asks('Please refund the broken lamp').text.outcome, 'open');
    session.hears('Unfortunately I cannot refund lamps.', 'TOOL');
    equal(session.text.outcome, 'not_possible');
    session.says('that is not fair', 'negative-feedback');
    equal(session.text.outcome, 'not_possible');
  });

  it('is solved by what is reported done after a question, too', () => {
    const session = talk()
      .asks('Why is my balance of days off wrong?')
      .hears('I have corrected it: 13.5 days.');
    equal(session.says('great, thanks', 'gratitude').text.outcome, 'solved');
  });

  it('goes on from what it wrote after every turn, and writes little', () => {
    const whole = talk();
    let broken = talk().text;
    const subjects = [
      'flight to Lisbon',
      'hotel beside the harbour',
      'guide for the castle',
      'table for dinner',
    ];
    let bytes = 0;
    for (let turn = 0; turn < 40; turn += 1) {
      const subject = subjects[turn % subjects.length]!;
      const content = `please find me a ${subject} number ${turn} ${'very '.repeat(100)}soon`;
      const answer = `Unfortunately there is no ${subject}. ${'It is a long story. '.repeat(50)} Anything else?`;
      for (const text of [whole.text, broken]) {
        text.addUserTurn(content, enrichment('request', content));
        text.addAssistantTurn(answer, redact, turn % 3 === 0 ? 'KNOWLEDGE' : null);
        text.language(detect);
      }
      const writer = new ByteWriter();
      broken.write(writer);
      const written = writer.finish();
      bytes = Math.max(bytes, written.length);
      broken = SessionText.read(new ByteReader(written));
      deepEqual(
        [broken.title('en'), broken.summary('en')],
        [whole.text.title('en'), whole.text.summary('en')],
      );
    }
    ok(bytes < 1600, `${bytes} bytes`);
    ok((whole.summary()?.length ?? 0) <= 640);
  });
});
