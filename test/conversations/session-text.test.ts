import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ByteReader, ByteWriter } from '../../src/domain/byte-codec.ts';
import { SessionText } from '../../src/conversations/session-text.ts';
import { redact } from '../../src/language/redact/redact.ts';
import type { Enrichment } from '../../src/domain/facts.ts';

function enrichment(kind: 'request' | 'reply', request = ''): Enrichment {
  return { kind, request, vector: null, sentences: [], signals: [], gap: null };
}
function request(text: SessionText, content: string): void {
  text.addUserTurn(content, enrichment('request', content));
}
const detect = (sample: string): string | null => (sample.length < 24 ? null : 'en');

describe('SessionText', () => {
  it('tells what was asked, what came of it and how it ended', () => {
    const text = new SessionText();
    text.addUserTurn('hello', enrichment('reply'));
    equal(text.title, 'Hello');
    request(text, 'I want to cancel my booking for Friday');
    text.addAssistantTurn('Which one? I have cancelled booking 17 for you.', redact);
    text.addUserTurn('great, thanks', enrichment('reply'));
    equal(text.title, 'Cancel my booking for Friday');
    equal(
      text.summary,
      'I want to cancel my booking for Friday. I have cancelled booking 17 for you. Great, thanks.',
    );
  });

  it('takes a later request for the main one only when the first says little', () => {
    const text = new SessionText();
    request(text, 'a question');
    request(text, 'How do I connect my printer to the network?');
    request(text, 'Where do I buy new ink cartridges for it?');
    equal(text.title, 'How do I connect my printer to the network');
  });

  it('keeps questions as questions and cuts only politeness', () => {
    const titles = [
      'Hi, where is my parcel?',
      'I want a car on the 4th, please',
      'I am stuck at home with a cold and cannot go out at all. Are there any good films to watch online?',
    ].map((content) => {
      const text = new SessionText();
      request(text, content);
      return text.title;
    });
    deepEqual(titles, ['Where is my parcel', 'A car on the 4th', 'Are there any good films to watch online']);
  });

  it('has nothing to say before the user has', () => {
    const text = new SessionText();
    text.addAssistantTurn('Welcome! How can I help?', redact);
    deepEqual([text.title, text.summary, text.language(detect)], [null, null, null]);
  });

  it('keeps titles within 60 characters, whole words, and whole characters', () => {
    const text = new SessionText();
    request(text, `compare ${'photosynthesis and respiration '.repeat(10)}`);
    const title = text.title ?? '';
    ok(title.length <= 60);
    match(title, /^Compare .*(?:photosynthesis|respiration|and)…$/);
    const emoji = new SessionText();
    request(emoji, '😀'.repeat(100));
    ok((emoji.title ?? '').isWellFormed() && (emoji.title ?? '').length <= 60);
  });

  it('knows the language when there is enough text and then stops asking', () => {
    const text = new SessionText();
    let asked = 0;
    const counting = (sample: string): string | null => {
      asked += 1;
      return detect(sample);
    };
    request(text, 'short');
    equal(text.language(counting), null);
    request(text, 'now this is quite long enough');
    equal(text.language(counting), 'en');
    request(text, 'x '.repeat(200));
    text.language(counting);
    request(text, 'more and more and more');
    text.language(counting);
    equal(asked, 3);
  });

  it('tells the language turn by turn, whenever it is asked', () => {
    const asked: [string, string | null][] = [];
    const recording = (sample: string, before: string | null): string | null => {
      asked.push([sample, before]);
      return sample.includes('zwei') ? 'de' : before;
    };
    const text = new SessionText();
    for (const content of ['one', 'zwei', 'three']) request(text, content);
    equal(text.language(recording), 'de');
    deepEqual(asked, [
      ['one', null],
      ['one\nzwei', null],
      ['one\nzwei\nthree', 'de'],
    ]);
  });

  it('goes on from what it wrote, and writes little', () => {
    const text = new SessionText();
    for (let turn = 0; turn < 50; turn += 1) {
      request(text, `please find me flight number ${turn} to Lisbon ${'very '.repeat(100)}soon`);
      text.addAssistantTurn(`I found flight ${turn}. ${'It is a good one. '.repeat(50)}`, redact);
    }
    text.language(detect);
    const writer = new ByteWriter();
    text.write(writer);
    const bytes = writer.finish();
    ok(bytes.length < 700, `${bytes.length} bytes`);
    const again = SessionText.read(new ByteReader(bytes));
    deepEqual([again.title, again.summary, again.language(detect)], [text.title, text.summary, 'en']);
  });

  it('joins sentences of scripts without spaces with their own full stop', () => {
    const text = new SessionText();
    request(text, '我想取消订单');
    text.addAssistantTurn('订单已经取消。', redact);
    equal(text.summary, '我想取消订单。 订单已经取消。');
  });
});
