import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BriefResponse } from '../../../src/query/briefs/brief-schema.ts';
import { briefCsv, briefMarkdown } from '../../../src/query/briefs/brief-text.ts';

const AT = '2026-11-20T10:00:00.000Z';
const PERIOD = {
  'dateRange.start': Date.parse('2026-11-02T23:00:00Z') * 1000,
  'dateRange.end': Date.parse('2026-11-15T23:00:00Z') * 1000,
  timeZone: 'Europe/Berlin',
};
const ID = '5b1f0c52-0000-4000-8000-000000000000';

function said(text: string) {
  return { sessionId: ID, position: 7, createdAt: AT, text };
}

function brief(parts: Partial<BriefResponse> = {}): BriefResponse {
  return {
    gap: { id: ID, name: 'Cancel orders', gapType: 'TOOL', description: 'Cannot cancel orders' },
    fields: { sessions: 8, users: 7, dissatisfied: 6, excessDissatisfied: 4.04, handedOver: 1, cameBack: 0 },
    groups: [
      {
        topic: { id: ID, name: 'Cancel order' },
        sessions: 7,
        questions: [said('Cancel order •••, please'), said('Can I still cancel?')],
      },
      { topic: null, sessions: 1, questions: [] },
    ],
    others: 0,
    read: 7,
    arguments: [{ kind: 'ID', requests: 5 }],
    answers: [said('I cannot cancel orders.')],
    lastProcessedAt: AT,
    ...parts,
  };
}

describe('a brief in Markdown', () => {
  it('says in order how much it costs, what people ask, what that holds, and what the assistant says', () => {
    equal(
      briefMarkdown(brief(), PERIOD),
      `# Cancel orders

The assistant said that it cannot do this. To close the gap, build an action that does it.

8 conversations of 7 people; 6 of them dissatisfied, 4 more than usual; 1 went on with a person. Counted from 2026-11-03 to 2026-11-15, Europe/Berlin.

## What people ask

### 1. Cancel order: 7 conversations

> Cancel order •••, please
>
> Can I still cancel?

### 2. Something else: 1 conversation

The texts are gone.

## What the requests hold

- 5 of 7: a number, such as of an order

## What the assistant says now

> I cannot cancel orders.
`,
    );
  });

  it('leaves out what there is nothing of', () => {
    const nothing = { groups: [], read: 0, arguments: [], answers: [], fields: { sessions: 0 } };
    equal(
      briefMarkdown(brief({ ...nothing, gap: { ...brief().gap, gapType: 'KNOWLEDGE' } }), {}),
      '# Cancel orders\n\nThe assistant said that it does not know this. To close the gap, write an article that it can ' +
        'use.\n\nNo conversation has it in this time. Counted to 2026-11-20, UTC.\n',
    );
  });

  it('makes no markup, link, image or mention of what users say', () => {
    const hostile =
      '![x](https://evil.example/p.png) <script>alert(1)</script> [a](b) **b** @all # h\n> q | `c` \\';
    const gap = { ...brief().gap, name: hostile };
    const text = briefMarkdown(
      brief({
        gap,
        groups: [{ topic: { id: ID, name: hostile }, sessions: 1, questions: [said(hostile)] }],
        answers: [said(hostile)],
      }),
      {},
    );
    for (const line of text.split('\n')) {
      const own = line.replace(/^(?:#{1,3} (?:1\. )?|> |- )/, '');
      ok(!/(?<!\\)(?:\\\\)*[![\]()<>*`@#|]/.test(own), line);
    }
  });
});

describe('what users say in a brief in Markdown', () => {
  it('begins no list, links to no host, and keeps its numbers', () => {
    const lines = (text: string): string =>
      briefMarkdown(brief({ groups: [], answers: [said(text)] }), {})
        .split('\n')
        .at(-2)!;
    equal(lines('2. Cancel 3.5'), '> 2\\. Cancel 3.5');
    equal(lines('3 orders'), '> 3 orders');
    equal(lines('- 3 orders'), '> \\- 3 orders');
    equal(lines('see WWW.evil.example'), '> see WWW\\.evil.example');
  });
});

describe('a brief as CSV', () => {
  it('has a row for each question', () => {
    equal(
      briefCsv(brief()),
      'gap,type,group,topic,sessions,question,createdAt,sessionId\r\n' +
        `Cancel orders,TOOL,1,Cancel order,7,"Cancel order •••, please",${AT},${ID}\r\n` +
        `Cancel orders,TOOL,1,Cancel order,7,Can I still cancel?,${AT},${ID}\r\n`,
    );
  });
});
