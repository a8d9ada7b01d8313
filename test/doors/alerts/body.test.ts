import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  MOST_DIFFERENCES_LISTED,
  MOST_HELD_BACK_NAMED,
  POSTED,
} from '../../../src/doors/alerts/body-schema.ts';
import type { Firing } from '../../../src/doors/alerts/evaluation.ts';
import { contentOf, escapeMrkdwn, render } from '../../../src/doors/alerts/body.ts';
import { readState } from '../../../src/web/page/client/state.ts';
import { entity, firing, INSTANCE, NOW, RULE, rule, TOPIC } from './builders.ts';

const LINK = `/?instance=${INSTANCE}&view=topic&id=${TOPIC}`;

interface SlackBody {
  readonly text: string;
  readonly blocks: readonly {
    readonly type: string;
    readonly text: { readonly type: string; readonly text: string };
  }[];
}

function slack(
  parts: Parameters<typeof firing>[0] = {},
  quotes: readonly string[] = [],
  publicUrl = '',
): SlackBody {
  const content = contentOf({ ...firing(parts), quotes, precision: null }, 7, NOW);
  return JSON.parse(render(content, 'slack', publicUrl).body) as SlackBody;
}

describe('the body of a message', () => {
  it('has every figure', () => {
    const before = { start: 0, end: 86_400_000_000, sessions: 380, windows: 28 };
    const precision = { share: 0.925, low: 0.84, high: 0.97, checked: 40 };
    const content = contentOf({ ...firing({ before }), quotes: ['Cancel it.'], precision }, 7, NOW);
    const { body, text } = render(content, 'undertone', '');
    const { timestamp, data } = POSTED['alert.fired'].parse(JSON.parse(body));
    equal(timestamp, '2026-11-22T14:05:00.000Z');
    deepEqual(data, {
      alert: { id: RULE, name: 'Many cancellations', kind: 'count' },
      instanceId: INSTANCE,
      text,
      link: LINK,
      window: {
        granularity: 'DAY',
        start: '2026-11-22T00:00:00.000Z',
        end: '2026-11-23T00:00:00.000Z',
        timeZone: 'UTC',
      },
      value: 42,
      bound: 40,
      before: {
        start: '1970-01-01T00:00:00.000Z',
        end: '1970-01-02T00:00:00.000Z',
        sessions: 380,
        windows: 28,
      },
      entity: { groupBy: 'TOPIC', id: TOPIC, name: 'Cancel order' },
      precision,
      quotes: ['Cancel it.'],
      position: 7,
    });
    const told =
      ' People have checked 40 conversations that count for it: 84\u00a0% to 97\u00a0% of all that count are right.';
    ok(text.endsWith(told), text);
  });

  it('calls no window today that is over for who reads it, however far behind the worker is', () => {
    const late = NOW + 2 * 86_400_000;
    const { text } = contentOf({ ...firing(), quotes: [], precision: null }, 7, late);
    ok(text.startsWith('‘Cancel order’ came up in 42 conversations on 22 November;'), text);
  });

  it('says what a new value is compared with, and leads to the days that count', () => {
    const segment = { plan: ['pro', 'team'], 'environment!': 'test' };
    const condition = { kind: 'new_value', segmentKey: 'version', minSessions: 30, segment } as const;
    const found = Array.from({ length: 150 }, (): NonNullable<Firing['compared']>['found'][number] => ({
      groupBy: 'GAP',
      id: TOPIC,
      name: 'Cancel order',
      difference: 'more',
      share: 0.4,
      shareAgainst: 0.02,
    }));
    const compared = {
      segmentKey: 'version',
      value: '3.2',
      against: '3.1',
      sessions: 42,
      sessionsAgainst: 50,
    };
    const span = { start: Date.UTC(2026, 10, 20) * 1000, end: Date.UTC(2026, 10, 23) * 1000 };
    const parts = {
      condition,
      window: null,
      span,
      entity: null,
      bound: 30,
      compared: { ...compared, found },
    };
    const content = contentOf({ ...firing(parts), quotes: [], precision: null }, 7, NOW);
    const { data } = POSTED['alert.fired'].parse(JSON.parse(render(content, 'undertone', '').body));
    deepEqual(
      [data.alert.kind, data.window.granularity, data.value, data.bound, data.entity],
      ['new_value', null, 42, 30, null],
    );
    equal(data.compared?.differences.length, MOST_DIFFERENCES_LISTED);
    const { differences: _, ...pair } = data.compared ?? { differences: [] };
    deepEqual(pair, { segmentKey: 'version', value: '3.2', against: '3.1', sessionsAgainst: 50 });
    equal(
      data.link,
      `/?instance=${INSTANCE}&range=2026-11-20%2F2026-11-22&attribute=version&value=3.2&against=3.1` +
        '&segment.environment%21=test&segment.plan=pro&segment.plan=team',
    );
    const state = readState(data.link.slice(1));
    deepEqual([state.attribute, state.value, state.against], ['version', '3.2', '3.1']);
    deepEqual(state.segment, [
      ['environment!', 'test'],
      ['plan', 'pro'],
      ['plan', 'team'],
    ]);
  });

  it('names what is held back, as many as fit', () => {
    const heldBack = Array.from({ length: 150 }, () => entity());
    const parts = { entity: null, heldBack, value: heldBack.length, bound: 20 };
    const { body, text } = render(
      contentOf({ ...firing(parts), quotes: [], precision: null }, 7, NOW),
      'undertone',
      '',
    );
    const { data } = POSTED['alert.held_back'].parse(JSON.parse(body));
    deepEqual([data.value, data.bound, data.text], [150, 20, text]);
    equal(data.heldBack.length, MOST_HELD_BACK_NAMED);
    deepEqual(data.heldBack[0], { groupBy: 'TOPIC', id: TOPIC, name: 'Cancel order', sessions: 42 });
    equal(slack(parts).text, `Many cancellations: ${text}`);
  });

  it('has a whole address where the dashboard has one', () => {
    const { body } = render(
      contentOf({ ...firing(), quotes: [], precision: null }, 7, NOW),
      'undertone',
      'https://undertone.example',
    );
    equal(POSTED['alert.fired'].parse(JSON.parse(body)).data.link, `https://undertone.example${LINK}`);
  });
});

describe('the body for Slack', () => {
  it('has the name of the alert, the text, and a link to the dashboard', () => {
    const { text, blocks } = slack({}, [], 'https://undertone.example');
    ok(text.startsWith('Many cancellations: ‘Cancel order’ came up in 42 conversations today;'));
    deepEqual(
      blocks.map((block) => [block.type, block.text.type]),
      [
        ['header', 'plain_text'],
        ['section', 'mrkdwn'],
        ['section', 'mrkdwn'],
      ],
    );
    equal(blocks[0]?.text.text, 'Many cancellations');
    const address = `https://undertone.example${LINK}`.replaceAll('&', '&amp;');
    equal(blocks.at(-1)?.text.text, `<${address}|Open in Undertone>`);
  });

  it('links its lines, or none of a section where the links do not fit', () => {
    const content = contentOf({ ...firing(), quotes: [], precision: null }, 7, NOW);
    const sectionOf = (link: string): string => {
      const lines = ['a', 'b', 'c'].map((line) => ({ text: line, link }));
      const { body } = render({ ...content, sections: [{ lines }] }, 'slack', 'https://undertone.example');
      return (JSON.parse(body) as SlackBody).blocks[1]!.text.text;
    };
    const open = '(<https://undertone.example/?a=1&amp;b=2|open>)';
    equal(sectionOf('/?a=1&b=2'), `a ${open}\nb ${open}\nc ${open}`);
    equal(sectionOf(`/?segment.plan=${'p'.repeat(1000)}`), 'a\nb\nc');
  });

  it('has no link that nobody can follow', () => {
    equal(slack().blocks.length, 2);
  });

  it('mentions nobody, links nowhere and formats nothing, whatever users write', () => {
    const name =
      '<!channel> <@U012> <https://evil.example|click> & *bold* _it_ ~x~ `code` @here #general &lt;!here&gt;';
    const { text, blocks } = slack({ entity: entity({ name }) }, [name]);
    for (const visibleText of [text, ...blocks.map((block) => block.text.text)]) {
      ok(!/<|>/.test(visibleText), visibleText);
      ok(!/&(?!amp;|lt;|gt;)/.test(visibleText), visibleText);
      ok(!/[*_~`@#](?!\u200b)/.test(visibleText), visibleText);
    }
    const plain = blocks[0]?.text.text;
    equal(plain, 'Many cancellations');
  });

  it('escapes once, so that people read what was written', () => {
    equal(escapeMrkdwn('a < b && c > d'), 'a &lt; b &amp;&amp; c &gt; d');
    equal(escapeMrkdwn('&lt;'), '&amp;lt;');
  });

  it('fits into what Slack takes, and cuts no character in two', () => {
    const { text, blocks } = slack({
      entity: entity({ name: '&'.repeat(5000) }),
      rule: rule({ name: '😀'.repeat(100) }),
    });
    ok(text.length > 3000);
    const [header, section] = blocks;
    ok((header?.text.text.length ?? 0) <= 150 && (section?.text.text.length ?? 0) <= 3000);
    ok(section?.text.text.replaceAll('&amp;', '').includes('&') === false);
    ok(header?.text.text.isWellFormed());
  });
});
