import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { LANGUAGES } from '../../../src/reader/document/lexicon.ts';
import { requestParts } from '../../../src/reader/document/request-parts.ts';

interface Gold {
  readonly text: string;
  readonly language: string;
  readonly action: string | null;
  readonly thing: string | null;
  readonly half: 'tuned' | 'sealed';
}

const gold = readFileSync(join(import.meta.dirname, '../../gold/request-parts.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Gold);

/** Action and head of the thing: "cancel order". */
function brief(request: string, language?: string): string {
  const { action, thing } = requestParts(request, language);
  return `${action ?? '-'} ${thing[0] ?? '-'}`;
}

function share(examples: readonly Gold[]): number {
  const right = examples.filter((g) => brief(g.text) === `${g.action ?? '-'} ${g.thing ?? '-'}`);
  return right.length / examples.length;
}

describe('parts of a request', () => {
  it('tells requests with one thing apart by their action', () => {
    equal(brief('Cancel order'), 'cancel order');
    equal(brief('Track order'), 'track order');
    equal(brief('I want to order a pizza'), 'order food');
    equal(brief('Where is my order?'), 'track order');
  });

  it('hears one request in many wordings', () => {
    for (const request of [
      'I want to get rid of my account',
      'close my account',
      'account deletion',
      'how can my profile be removed',
      'Delete account',
    ]) {
      equal(brief(request), 'delete account', request);
    }
  });

  it('hears actions in nouns, questions after a state, and what went wrong', () => {
    equal(brief('cancellation of my booking'), 'cancel booking');
    equal(brief('refund status'), 'track refund');
    equal(brief('when will my parcel arrive'), 'track delivery');
    equal(brief('I was charged twice for my order'), 'complain order');
    equal(brief('my router is broken'), 'fix device');
    equal(brief("I can't log in"), 'recover login');
  });

  it('takes no light verb for an action', () => {
    for (const verb of ['get', 'have', 'make', 'do', 'want', 'need', 'help', 'know']) {
      equal(requestParts(`I would like to ${verb} it`).action, null, verb);
    }
  });

  it('passes over what was only tried or done before', () => {
    equal(brief('I tried to pay but my card was declined'), 'fix card');
    equal(brief('I cancelled my order, where is my refund?'), 'track refund');
  });

  it('hears a wish to have something where no other action is named', () => {
    equal(brief('I need a taxi'), 'order taxi');
    equal(brief('I need a refund for my ticket'), 'refund ticket');
    equal(brief('how do I apply for a loan'), 'apply loan');
    equal(brief('I want to apply for a refund'), 'refund refund');
  });

  it('takes a noun for a verb only where one may stand', () => {
    equal(brief('the check I sent was not accepted'), 'fix cheque');
    equal(brief('question about my order'), '- order');
    equal(brief('payment methods'), 'pay payment');
  });

  it('gives verb and thing as written', () => {
    deepEqual(requestParts('Please turn the kitchen lights off'), {
      action: 'deactivate',
      verb: 'turn off',
      thing: ['light', 'kitchen'],
      noun: 'kitchen lights',
      language: 'en',
    });
    const { verb, noun } = requestParts("Vorrei il rimborso dell'Ordine");
    deepEqual([verb, noun], ['rimborso', 'Ordine']);
    deepEqual(requestParts('descale the samovar').noun, 'samovar');
  });

  it('joins translations', () => {
    const cancel = [
      'cancel my order',
      'Bestellung stornieren',
      'annuler ma commande',
      '取消订单',
      'отменить заказ',
    ];
    for (const request of [
      ...cancel,
      '注文をキャンセル',
      '주문 취소',
      'إلغاء الطلب',
      'siparişimi iptal et',
    ]) {
      equal(brief(request), 'cancel order', request);
    }
  });

  it('keeps to the language that it is given, and finds it by the words otherwise', () => {
    equal(brief('Konto schließen', 'de'), 'delete account');
    equal(brief('Konto schließen'), 'delete account');
    equal(brief('Konto schließen', 'zh'), '- -');
    equal(brief('Konto schließen', 'sv'), 'delete account');
    equal(brief('मेरा खाता बंद करो'), '- -');
  });

  it('knows words however their marks are written', () => {
    equal(brief('olvidé mi contraseña'.normalize('NFD')), brief('olvidé mi contraseña'.normalize('NFC')));
    equal(brief('سُرِقَت بِطاقَتي'), 'block card');
    equal(brief('パスワードを忘れました'.normalize('NFD')), 'recover password');
  });

  it('takes a word of another language or sense for none of its own', () => {
    equal(brief('Скажите, пожалуйста'), '- -');
    equal(brief('das war gut', 'de'), '- -');
    equal(brief('사방으로 찾았다').split(' ')[1], '-');
    equal(brief('그 아이의 시간', 'ko'), '- -');
    equal(brief('one red vine pizza'), '- food');
  });

  it('finds a short Korean word only where a word may begin, and over no space that it does not have', () => {
    equal(brief('카드 취소'), 'cancel card');
    equal(brief('카드취소'), 'cancel card');
    equal(requestParts('누구의 사생활', 'ko').thing[0], undefined);
  });

  it('finds Latin words in scripts without spaces only as whole words', () => {
    equal(brief('取消 wifi'), 'cancel internet');
    equal(brief('取消 wifix'), 'cancel -');
  });

  it('is right on the gold', () => {
    const of = (half: string, english: boolean): number =>
      share(gold.filter((example) => example.half === half && (example.language === 'en') === english));
    ok(of('tuned', true) >= 0.85);
    ok(of('tuned', false) >= 0.95);
    ok(of('sealed', true) >= 0.7);
    ok(of('sealed', false) >= 0.85);
  });

  it('has gold for every language', () => {
    const languages = new Set(gold.map(({ language }) => language));
    deepEqual([...languages].sort(), [...LANGUAGES.keys()]);
  });

  it('reads awkward texts of 200,000 letters', () => {
    const size = 200_000;
    for (const unit of [
      'a',
      'a ',
      "l'",
      "a'b-c.",
      'not ',
      'turn ',
      'karte',
      '取',
      '取消',
      'é',
      '\u0301',
      'ال',
      ' ',
      ',',
    ]) {
      const text = unit.repeat(Math.ceil(size / unit.length));
      ok(requestParts(text).thing.length < 50, unit);
      if (unit < '~') equal(brief(`cancel my order ${text}`), 'cancel order', unit);
    }
  });
});
