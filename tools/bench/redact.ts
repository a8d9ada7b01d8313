/** What does it cost to take personal data out of a message? */
import { action, wholeNumber, type Command } from '../../src/cli/command.ts';
import { redact } from '../../src/reader/personal/redact.ts';

/** By what they hold: most messages hold nothing personal. */
const MESSAGES: readonly (readonly [what: string, text: string])[] = [
  [
    'English, nothing',
    'Hello, I ordered a blue blender last week and it still has not arrived, where is it right now?',
  ],
  [
    'English, prices',
    'I want to cancel, the price went up from 9.99 to 14.99 per month and nobody told me about it.',
  ],
  [
    'English, personal',
    'Hi, my name is Maria Lopez and order 48213 has not arrived, write to maria@example.com please.',
  ],
  [
    'German, nothing',
    'Ich möchte meine Bestellung stornieren, weil sie seit Wochen nicht kommt und niemand antwortet.',
  ],
  [
    'Russian, nothing',
    'Здравствуйте, я заказал телефон две недели назад, но посылка до сих пор не пришла, где она?',
  ],
  ['Chinese, personal', '我的订单号是123456789，到现在还没有收到货，请帮我查一下物流信息，谢谢。'],
];

const USAGE = `Usage: npm run bench -- redact [ROUNDS]

What does it cost to take personal data out of a message? Prints microseconds of the processor for each message and for
100 characters of it. ROUNDS, 20000 when left out, is how often each is read.`;

export const command: Command = {
  usage: USAGE,
  action: action({
    operands: 1,
    read(_, [rounds = '20000']) {
      const count = wholeNumber('ROUNDS', rounds);
      return () => {
        for (const [, text] of MESSAGES) microsecondsOf(text, count / 4);
        for (const [what, text] of MESSAGES) {
          const each = microsecondsOf(text, count);
          const hundred = (each * 100) / text.length;
          process.stdout.write(
            `${what.padEnd(20)} ${each.toFixed(1)} µs, ${hundred.toFixed(1)} µs per 100 characters\n`,
          );
        }
        return Promise.resolve();
      };
    },
  }),
};

function microsecondsOf(text: string, count: number): number {
  const before = process.threadCpuUsage();
  for (let round = 0; round < count; round += 1) redact(text);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / count;
}
