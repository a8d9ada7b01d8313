/**
 * What spans and events say about conversations, whatever convention they follow. Keeps the invariant that an
 * observation holds only texts that a person or the assistant said. Test: test/doors/traces/conventions.
 */
import { SYSTEM_PROMPT, TOOL_CALL, TOOL_RESULT, WITHOUT_TEXT } from '../content.ts';
import type { Message } from '../messages.ts';
import type { Observation, ObservedFeedback, ObservedMessage } from '../observation.ts';
import { OmissionCounts } from '../omissions.ts';
import type { Attributes, EventRecord, Span } from '../span.ts';
import { attributesOf, boundedAttributes } from './attributes.ts';
import { kindOf, messagesIn } from './convention.ts';
import { feedbackIn, isEvaluation } from './evaluations.ts';
import { answeredIn, askedIn, isMessageEvent } from './gen-ai-events.ts';
import { idsOf } from './ids.ts';
import { CONVENTIONS } from './registry.ts';
import { usageIn } from './usage.ts';

/** What one span or record gives; what is left out is added to `omitted`. */
export function observationOf(span: Span, omitted: OmissionCounts): Observation {
  const { traceId, spanId, parentSpanId, startedAt, endedAt, attributes, resource } = span;
  const kind = firstOf((convention) => kindOf(convention, span)) ?? 'other';
  const left = new OmissionCounts();
  const content =
    kind === 'other'
      ? NOTHING
      : contentOf(
          firstOf((convention) => messagesIn(convention, 'asked', span, left)),
          firstOf((convention) => messagesIn(convention, 'answered', span, left)),
          left,
        );
  omitted.addAll(left.all);
  const told = attributesOf(attributes, resource, kind);
  // Embeddings and tools have usage, too.
  const usage = kind === 'other' ? undefined : usageIn(attributes);
  const evaluations = span.events.filter(({ name }) => isEvaluation(name));
  const given = feedbackOf([span, ...evaluations].map((one) => ({ ...one, at: endedAt })));
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    kind,
    startedAt,
    endedAt,
    ...idsOf(attributes, resource),
    ...(told === undefined ? {} : { attributes: told }),
    ...(usage === undefined ? {} : { usage }),
    // They arrive together: the last one is what holds.
    ...(given === undefined ? {} : { feedback: given.slice(-1) }),
    ...content,
    // Many libraries record messages on calls alone: an agent without them says nothing about the opt-in.
    lacksContent: kind === 'chat' && content.lacksContent,
  };
}

/** One observation for all records of a span, which come in the order in which they were written. */
export function observationsOfEvents(
  records: readonly EventRecord[],
  omitted: OmissionCounts,
): readonly Observation[] {
  const bySpan = Map.groupBy(records, ({ traceId, spanId }) => `${traceId} ${spanId}`);
  return [...bySpan.values()].flatMap((all) => {
    const evaluations = all.filter(({ name }) => isEvaluation(name));
    const given = feedbackOf(evaluations);
    const own = all.filter(({ name }) => isMessageEvent(name));
    const [first] = own;
    if (first === undefined) return given === undefined ? [] : observationOfFeedback(evaluations, given);
    const left = new OmissionCounts();
    const content = contentOf(askedIn(own, left), answeredIn(own, left), left);
    omitted.addAll(left.all);
    const { traceId, spanId } = first;
    const told = boundedAttributes(
      own.flatMap(({ attributes, resource }) =>
        Object.entries(attributesOf(attributes, resource, 'event') ?? {}),
      ),
    );
    const times = own.map(({ at }) => at);
    const usage = own.map(({ attributes }) => usageIn(attributes)).find((found) => found !== undefined);
    return {
      traceId,
      spanId,
      kind: 'event',
      startedAt: times.reduce((a, b) => Math.min(a, b)),
      endedAt: times.reduce((a, b) => Math.max(a, b)),
      ...own
        .map(({ attributes, resource }) => idsOf(attributes, resource))
        .reduce((ids, more) => ({ ...more, ...ids })),
      ...(Object.keys(told).length === 0 ? {} : { attributes: told }),
      ...(usage === undefined ? {} : { usage }),
      ...(given === undefined ? {} : { feedback: given }),
      ...content,
    };
  });
}

/** Of records that give feedback on a span and hold no messages. */
function observationOfFeedback(
  evaluations: readonly EventRecord[],
  feedback: readonly ObservedFeedback[],
): Observation[] {
  return evaluations.slice(0, 1).map(({ traceId, spanId, at }) => ({
    traceId,
    spanId,
    kind: 'event',
    startedAt: at,
    endedAt: at,
    feedback,
    ...NOTHING,
  }));
}

/** Undefined: no end user gave any. */
function feedbackOf(
  evaluations: readonly { readonly attributes: Attributes; readonly at: number }[],
): readonly ObservedFeedback[] | undefined {
  const feedback = evaluations.flatMap(({ attributes, at }) => feedbackIn(attributes, at) ?? []);
  return feedback.length === 0 ? undefined : feedback;
}

type Content = Pick<Observation, 'asked' | 'continues' | 'answered' | 'lacksContent'>;

const NOTHING: Content = { asked: [], answered: [], lacksContent: false };

/** These are there even if content is not recorded. */
const WITHOUT_CONTENT: ReadonlySet<string> = new Set([WITHOUT_TEXT, TOOL_CALL, SYSTEM_PROMPT]);

function contentOf(
  asked: readonly Message[] | undefined,
  answered: readonly Message[] | undefined,
  omitted: OmissionCounts,
): Content {
  const all = [...(asked ?? []), ...(answered ?? [])];
  const isRecorded =
    all.some(({ content }) => content.trim() !== '') ||
    [...omitted.all.keys()].some((reason) => !WITHOUT_CONTENT.has(reason));
  omitted.add(SYSTEM_PROMPT, all.filter(({ role }) => role === 'system').length);
  omitted.add(TOOL_RESULT, all.filter(({ role }) => role === 'tool').length);
  return {
    ...split(spokenOf(asked), spokenOf(answered)),
    ...(asked?.at(-1)?.usesTool === true ? { continues: true } : {}),
    lacksContent: !isRecorded,
  };
}

/** Agents may give back the whole conversation, with what was asked in it: only what follows is an answer. */
function split(
  asked: readonly ObservedMessage[],
  given: readonly ObservedMessage[],
): Pick<Content, 'asked' | 'answered'> {
  const last = given.findLastIndex(({ role }) => role === 'user');
  if (last === -1) return { asked, answered: given };
  const before = given.slice(0, last + 1);
  const isWhole =
    asked.length <= before.length &&
    asked.every((message, index) => {
      const same = before[before.length - asked.length + index];
      return same?.role === message.role && same.content === message.content;
    });
  return { asked: isWhole ? before : asked, answered: given.slice(last + 1) };
}

function spokenOf(messages: readonly Message[] = []): ObservedMessage[] {
  return messages.flatMap(({ role, content }) =>
    (role === 'user' || role === 'assistant') && content.trim() !== '' ? [{ role, content }] : [],
  );
}

function firstOf<T>(find: (convention: (typeof CONVENTIONS)[number]) => T | undefined): T | undefined {
  for (const convention of CONVENTIONS) {
    const found = find(convention);
    if (found !== undefined) return found;
  }
  return undefined;
}
