import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { askedSentences, beginsWithReply, statedSentence } from '../../../src/reader/acts/asked-sentences.ts';
import { findIn } from '../../../src/reader/acts/finding.ts';
import { loadHeads } from '../../../src/reader/acts/heads.ts';

const heads = loadHeads();

function asked(content: string): string[] {
  const finding = findIn({ role: 'user', content }, heads);
  const enrichment = {
    ...finding,
    gap: null,
    vector: null,
    sentences: finding.sentences.map((sentence) => ({ ...sentence, vector: null })),
  };
  return askedSentences(content, enrichment).map(({ text }) => text);
}

describe('asked sentences', () => {
  it('are the user’s own, with what enriching leaves out', () => {
    deepEqual(asked('No invoice came for May. Could you send it?'), [
      'No invoice came for May.',
      'Could you send it?',
    ]);
    deepEqual(asked('Hello! What are your opening hours? Do you take cards? Thanks'), [
      'What are your opening hours?',
      'Do you take cards?',
    ]);
  });

  it('leave out signatures, data, code and who writes', () => {
    deepEqual(asked('Where is my parcel? My e-mail is •••.'), ['Where is my parcel?']);
    deepEqual(asked('The door is stuck. Kind regards, Ada Byron, 4 Mill Lane'), ['The door is stuck.']);
    deepEqual(asked('Why does this fail?\n```\nif (a) { b(); }\n```'), ['Why does this fail?']);
    deepEqual(asked('•••です。電話がかけられません'), ['電話がかけられません']);
  });

  it('tell an answer by its first word', () => {
    deepEqual(
      ['Yes, that one', 'Nein danke', '是的', 'Where is it'].map((content) => beginsWithReply(content)),
      [true, true, true, false],
    );
  });

  it('are what was stated when nothing is asked and it names something', () => {
    equal(statedSentence('hi there'), null);
    equal(statedSentence('Hi! My neighbour builds wooden boats.')?.text, 'My neighbour builds wooden boats.');
  });
});
