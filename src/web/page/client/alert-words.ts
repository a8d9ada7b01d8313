/**
 * Words conditions and deliveries of alerts.
 *
 * Test: test/web/page/alert-words.test.ts.
 */
import { choiceOf, choiceWords } from '../../../domain/attributes.ts';
import type { Alert, Condition, Counted, Window } from '../../../contract/alerts.ts';
import { counted, formatShare } from './format.ts';

export const THINGS: Readonly<Record<Counted, string>> = {
  TOPIC: 'a topic',
  GAP: 'a gap',
  CSAT_DSAT: 'a satisfaction signal',
};
export const WINDOW_WORDS: Readonly<Record<Window, string>> = {
  HOUR: 'an hour',
  DAY: 'a day',
  WEEK: 'a week',
};
const BEFORE_WORDS: Readonly<Record<Window, string>> = {
  HOUR: 'in an average hour of the last seven days',
  DAY: 'on an average day of the last four weeks',
  WEEK: 'in an average week of the last eight weeks',
};
const SIGNALS = { SAT: 'a signal of satisfaction', DSAT: 'a signal of dissatisfaction' } as const;

/** Returns a sentence without its full stop. */
export function conditionWords(condition: Condition): string {
  return `${kindWords(condition)}${segmentWords(condition.segment)}`;
}

/** Example: “, counting only conversations with plan ‘pro’ or ‘team’”. */
function segmentWords(segment: Condition['segment']): string {
  const choices = Object.entries(segment ?? {}).map(([name, values]) =>
    choiceOf(name, [values].flat().map(String)),
  );
  return choices.length === 0 ? '' : `, counting only conversations ${choiceWords(choices, (text) => text)}`;
}

function kindWords(condition: Condition): string {
  switch (condition.kind) {
    case 'count':
      return (
        `${capital(thingOf(condition))} comes up in ${counted(condition.atLeast, 'conversation')} or more ` +
        `within ${WINDOW_WORDS[condition.window]}`
      );
    case 'rising':
      return (
        `${capital(thingOf(condition))} comes up ${times(condition.factor)} as often as ` +
        `${BEFORE_WORDS[condition.window]}, and in ${counted(condition.atLeast, 'conversation')} or more`
      );
    case 'new_topic':
      return `A new topic comes up in ${counted(condition.atLeast, 'conversation')}`;
    case 'new_value':
      return (
        `A value of ${condition.segmentKey} is new, and its conversations differ, once it and the value before have ` +
        `${counted(condition.minSessions, 'conversation')} on the same days`
      );
    case 'came_back':
      return 'Something that was fixed came up less often, and comes up more often again';
    case 'dsat_share':
      return (
        `More than ${formatShare(condition.above)} of the conversations within ${WINDOW_WORDS[condition.window]} ` +
        `have a signal of dissatisfaction, and there are at least ${counted(condition.minSessions, 'conversation')}`
      );
    case 'digest':
      return 'A week is over: a digest of it';
    default:
      return condition satisfies never;
  }
}

/** The API reveals only the domains of e-mail addresses. */
export function deliveryWords({ url, format }: Alert['delivery']): string {
  if (format !== 'email') return `Posted to ${url}${format === 'slack' ? ' in the format of Slack' : ''}`;
  const domains = url.split(',').map((address) => address.slice(address.lastIndexOf('@') + 1));
  const people = `${domains.length} ${domains.length === 1 ? 'person' : 'people'}`;
  return `Sent by e-mail to ${people} at ${[...new Set(domains)].join(' and ')}`;
}

function thingOf(condition: Extract<Condition, { readonly groupBy: Counted }>): string {
  const { groupBy, ids, signalType } = condition;
  const thing = signalType === undefined ? THINGS[groupBy] : SIGNALS[signalType];
  if (ids === undefined) return thing;
  return ids.length === 1
    ? thing.replace(/^a /, 'a chosen ')
    : `one of ${ids.length} chosen ${plural(groupBy)}`;
}

function times(factor: number): string {
  return factor === 2 ? 'twice' : `${factor.toLocaleString('en-GB')} times`;
}

function plural(groupBy: Counted): string {
  return { TOPIC: 'topics', GAP: 'gaps', CSAT_DSAT: 'signals' }[groupBy];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
