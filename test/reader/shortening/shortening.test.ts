import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { shortened, shortenedAtClause } from '../../../src/reader/shortening/shortening.ts';

describe('shortened', () => {
  it('gives back what is short enough', () => {
    equal(shortened(' The lift is stuck ', 20), 'The lift is stuck');
  });

  it('cuts at a clause that stands by itself', () => {
    equal(
      shortened('The lift is stuck between floors because a cable broke', 40),
      'The lift is stuck between floors',
    );
    equal(
      shortened('Die Heizung tropft stark, und der Keller steht unter Wasser', 30),
      'Die Heizung tropft stark',
    );
    equal(
      shortened('Since the lift broke, nobody brings parcels upstairs', 40),
      'nobody brings parcels upstairs',
    );
    equal(shortened('It says paid, but the invoice is still open', 36), 'It says paid, but the invoice…');
    equal(shortened('It says paid, but I never got the invoice', 36), 'I never got the invoice');
  });

  it('cuts neither inside quotes nor inside brackets', () => {
    equal(shortenedAtClause('Error "missing value, see log" on the export page', 40), null);
    equal(
      shortenedAtClause('The yearly report (second draft, in red) is lost again', 30),
      'The yearly report',
    );
  });

  it('ends with an ellipsis, and with no word that asks for more', () => {
    for (let length = 24; length < 70; length += 1) {
      const text = 'Why did the technician of the company not repair the boiler without a new part';
      const cut = shortened(text, length);
      ok(cut.length <= length && text.startsWith(cut.slice(0, -1)));
      ok(!/(?:the|of|not|a|without|did)…$/u.test(cut), cut);
    }
  });

  it('does not end with a negation where no spaces stand between words', () => {
    for (let length = 8; length < 20; length += 1)
      ok(!/[不没]…$/u.test(shortened('我的手机不能充电而且没法开机不知道怎么办才好', length)));
  });
});
