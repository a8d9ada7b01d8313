import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  withoutCourtesies,
  withoutData,
  withoutGreeting,
  withoutOpenings,
} from '../../../src/reader/shortening/trimming.ts';

describe('trimming', () => {
  it('cuts greetings, names and thanks from the ends', () => {
    for (const [text, left] of [
      ['Hello Dana, my card was declined, thank you', 'my card was declined'],
      ['Hi there! please reset my pin 🙏', 'reset my pin 🙏'],
      ['My name is Ada Byron, the door is stuck', 'the door is stuck'],
      ['Hi •••, where is the key?', 'where is the key?'],
      ['1) Can we park here?', 'Can we park here?'],
      ['Buenas, tengo una duda: ¿abren hoy? gracias', '¿abren hoy?'],
      ['请问可以退货吗，谢谢', '可以退货吗'],
      ['"The Overstory" is missing', '"The Overstory" is missing'],
    ] as const)
      equal(withoutCourtesies(text), left);
  });

  it('leaves words that only look like courtesies, and a "no" in any language', () => {
    for (const text of [
      'No invoice came',
      'no me llega el correo',
      'Nice hotels in Rome',
      'Well water is brown',
      'e-mail not received',
      'also-ran list is empty',
      'SIM is not recognised',
      'Is that ok',
      'thanks',
    ])
      equal(withoutCourtesies(text), text);
  });

  it('cuts openings only where the rest stands by itself', () => {
    equal(withoutOpenings('I would like to know whether the pool is open'), 'whether the pool is open');
    equal(withoutOpenings('ich möchte meine Adresse ändern'), 'meine Adresse ändern');
    equal(withoutOpenings('I don’t want to renew'), 'I don’t want to renew');
    equal(withoutOpenings('quiero que me devuelvan el dinero'), 'quiero que me devuelvan el dinero');
    equal(withoutOpenings('could you tell me'), 'could you tell me');
    equal(withoutOpenings('can you fix the lift'), 'can you fix the lift');
    equal(withoutOpenings('can you fix the lift', true), 'fix the lift');
  });

  it('cuts clauses that only give numbers and addresses', () => {
    equal(withoutData('raise my limit to 10000, account 20-11-45 55667788'), 'raise my limit to 10000');
    equal(withoutData('order 5512-7781, the lid is broken'), 'the lid is broken');
    equal(withoutData('write to the owner, ada@example.org'), 'write to the owner');
    equal(withoutData('order ••• never came'), 'order ••• never came');
    equal(withoutData('it cost 1200, not 120000'), 'it cost 1200, not 120000');
  });

  it('cuts only greetings from answers', () => {
    equal(withoutGreeting('Hi Dana! Yes, it is open.'), 'Yes, it is open.');
    equal(withoutGreeting('Please restart it.'), 'Please restart it.');
  });
});
