import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analysedPart, fold } from '../../../src/reader/document/normalise.ts';

describe('normalise', () => {
  it('folds case, accents, apostrophes and spaces, and leaves other scripts whole', () => {
    equal(fold('  Où ÊTES-vous ?\n Don’t  Straße '), "ou etes-vous ? don't strasse");
    equal(fold('Ёж й が パ'), 'ёж й が パ');
  });

  it('folds a letter beside another script as by itself', () => {
    for (let code = 0x21; code < 0x460; code += 1) {
      const letter = String.fromCharCode(code);
      equal(fold(`a${letter}b漢`), `${fold(`a${letter}bé`).slice(0, -1)}漢`, `U+${code.toString(16)}`);
    }
  });

  it('leaves out marks that no script puts on one letter', () => {
    equal(fold(`п${'\u0308'.repeat(5000)}`).length, 31);
  });

  it('cuts a long message always in the same place and keeps its start and end', () => {
    const long = `START ${'x'.repeat(50_000)} END`;
    const part = analysedPart(long);
    ok(part.length < 9000 && part.startsWith('START') && part.endsWith('END'));
    equal(analysedPart('a\ud800b'), 'a\ufffdb');
  });
});
