import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { abilityKeysOf, accessPhrases } from '../../../src/reader/phrases/ability-keys.ts';

const keys = (words: string, request = '', language: string | null = 'en', isUnseen = false): string => {
  const { act, thing } = abilityKeysOf({ type: 'TOOL', words, isUnseen, request, language });
  return `${act} ${thing}`;
};

describe('abilityKeysOf', () => {
  it('finds the same keys in many wordings and languages', () => {
    equal(keys('change the delivery address'), 'change address');
    equal(keys('editing where a parcel goes'), 'change address');
    equal(keys('Lieferanschrift ändern', '', 'de'), 'change address');
    equal(keys('modificar la dirección de entrega', '', 'es'), 'change address');
  });

  it('tells the acts on one thing apart', () => {
    equal(keys('send emails'), 'send email');
    equal(keys('read your inbox'), 'view email');
    equal(keys('refund the ticket'), 'refund refund');
    equal(keys('see the status of refunds'), 'view refund');
  });

  it('takes from the request what the words do not say', () => {
    equal(keys('', 'draw a lighthouse'), 'make image');
    equal(keys('your account', 'where is my refund?', 'en', true), 'view refund');
  });

  it('says which keys are the request’s alone', () => {
    const of = { type: 'TOOL', isUnseen: false, language: 'en' } as const;
    const { isActAsked, isThingAsked } = abilityKeysOf({
      ...of,
      words: '',
      request: 'cancel my subscription',
    });
    deepEqual([isActAsked, isThingAsked], [true, true]);
    const statedKeys = abilityKeysOf({ ...of, words: 'cancel a subscription', request: 'stop it' });
    deepEqual([statedKeys.isActAsked, statedKeys.isThingAsked], [false, false]);
  });

  it('does not take what was bought for what is to be done', () => {
    equal(keys('see the status of an order', 'still no lamp here'), 'view order');
    equal(keys('cancel orders', 'the suitcase is too small'), 'cancel order');
  });

  it('has one thing for calls, however they are said', () => {
    equal(keys('make phone calls').split(' ')[1], 'call');
    equal(keys('ring the harbour').split(' ')[1], 'call');
    equal(keys('change your phone number'), 'change phone');
  });

  it('finds no act within a thing', () => {
    equal(keys('Bestellungen stornieren', '', 'de'), 'cancel order');
    equal(keys('查看订单', '', 'zh'), 'view order');
  });

  it('names a thing that the list does not hold as requests do', () => {
    equal(keys('tune the piano'), 'null ~piano');
  });

  it('says what else is named, and what the request alone names', () => {
    const { others } = abilityKeysOf({
      type: 'TOOL',
      words: 'change the name on a booking',
      isUnseen: false,
      language: 'en',
      request: 'my passport says Elizabeth',
    });
    equal(others?.stated.includes('booking'), true);
    deepEqual(others?.asked, ['permit']);
  });

  it('reads words in the language of the phrase, whatever else they may be', () => {
    equal(keys('reactivating accounts'), 'unlock account');
    equal(keys('desbloquear cuentas', '', 'es'), 'unlock account');
  });

  it('hears the verb in the phrase where inability is a form of it', () => {
    const of = { type: 'TOOL', isUnseen: false, request: '' } as const;
    const inTurkish = { ...of, words: 'teslimat gününü', language: 'tr' };
    equal(abilityKeysOf(inTurkish).act, null);
    equal(abilityKeysOf({ ...inTurkish, claim: 'değiştiremiyorum' }).act, 'change');
  });

  it('takes the verb at the end of the sentence for the act where verbs stand last', () => {
    equal(keys('den Namen auf der Buchung ändern', '', 'de'), 'change personname');
  });

  it('takes a word that is act and thing for the act where another thing is named', () => {
    equal(keys('file complaints'), 'submit complaint');
    equal(keys('open your files'), 'view file');
  });

  it('takes no short thing that is part of a longer one', () => {
    equal(keys('hours on public holidays').split(' ')[1], 'holiday');
    equal(keys('request holidays').split(' ')[1], 'leave');
  });

  it('has no act for what is not known', () => {
    const of = { type: 'KNOWLEDGE', words: 'nuts in the cake', isUnseen: false, language: 'en' } as const;
    deepEqual(abilityKeysOf({ ...of, request: '' }), {
      act: null,
      thing: 'allergen',
      isThingAsked: false,
      isWhole: true,
      others: { acts: [], stated: ['~cak'], asked: [] },
    });
  });
});

describe('accessPhrases', () => {
  it('falls back to English', () => {
    deepEqual(accessPhrases(null), { before: 'access ', after: '' });
    deepEqual(accessPhrases('sw'), accessPhrases('en'));
  });
});
