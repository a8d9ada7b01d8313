import type { Observation } from '../../src/doors/traces/observation.ts';
import { TEXTS } from './model-server.ts';
import { assistant, user } from './observed.ts';

/** An observation without times, with small numbers for the ids of trace and span. */
export interface NumberedObservation extends Omit<
  Observation,
  'traceId' | 'spanId' | 'parentSpanId' | 'startedAt' | 'endedAt'
> {
  readonly trace: number;
  readonly span: number;
  /** 0: a span that was not exported. */
  readonly parent?: number;
}

/** Traces and spans are numbered in the order of their first observation. */
export function numberedObservations(observations: readonly Observation[]): NumberedObservation[] {
  const traces = new Map<string, number>();
  const spans = new Map<string, number>();
  for (const { traceId, spanId } of observations) {
    if (!traces.has(traceId)) traces.set(traceId, traces.size + 1);
    if (!spans.has(spanId)) spans.set(spanId, spans.size + 1);
  }
  return observations.map(({ traceId, spanId, parentSpanId, startedAt, endedAt, ...rest }) => ({
    trace: traces.get(traceId) ?? 0,
    span: spans.get(spanId) ?? 0,
    ...(parentSpanId === undefined ? {} : { parent: spans.get(parentSpanId) ?? 0 }),
    ...rest,
    ...(startedAt > endedAt ? { isReversed: true } : {}),
  }));
}

const first = { asked: [user(TEXTS.broken)], answered: [assistant(TEXTS.sorry)], lacksContent: false };
const asked = [...first.asked, ...first.answered, user(TEXTS.when)];
/** The call that asks for a tool, and the one that has its result. */
const callsTool = { asked, answered: [], lacksContent: false };
const second = { asked, answered: [assistant(TEXTS.friday)], lacksContent: false };
const nothing = { asked: [], answered: [], lacksContent: false };
const unrecorded = { asked: [], answered: [], lacksContent: true };
const whose = { conversationId: 'order 17', userId: 'anna' };

interface ExpectedExport {
  readonly observations: readonly NumberedObservation[];
  readonly spans: number;
  readonly rejected: readonly never[];
  readonly omitted: Readonly<Record<string, number>>;
  readonly lacksContent: number;
}

/** Each call of the model server takes so many tokens; an agent says the sum of its calls. */
const taking = (calls: number): Pick<NumberedObservation, 'usage'> => ({
  usage: { inputTokens: 20 * calls, outputTokens: 8 * calls, costNanos: null },
});

const expectedExport = (
  observations: readonly NumberedObservation[],
  omitted: Readonly<Record<string, number>> = {},
  spans = observations.length,
  // A call whose answer is a stream, of which the SDK does not ask for usage.
  silent?: number,
): ExpectedExport => ({
  // All calls and agents name their model, and log records do not.
  observations: observations.map((one) =>
    one.kind === 'chat' || one.kind === 'agent'
      ? {
          ...one,
          attributes: { model: 'small' },
          ...('usage' in one || one.span === silent ? {} : taking(1)),
        }
      : one,
  ),
  spans,
  rejected: [],
  omitted,
  lacksContent: observations.filter(({ lacksContent }) => lacksContent).length,
});

/** OpenTelemetry's instrumentation of `openai`: whether messages are recorded or not, they are not on spans. */
const SPANS_WITHOUT_CONTENT = expectedExport(
  [
    { trace: 1, span: 1, parent: 6, kind: 'chat', ...unrecorded },
    { trace: 2, span: 2, parent: 7, kind: 'chat', ...unrecorded },
    { trace: 2, span: 3, parent: 7, kind: 'chat', ...unrecorded },
    { trace: 3, span: 4, kind: 'chat', conversationId: 'conv_17', ...unrecorded },
    { trace: 4, span: 5, kind: 'other', ...nothing },
    { trace: 1, span: 6, kind: 'other', ...whose, ...nothing },
    { trace: 2, span: 7, kind: 'other', ...whose, ...nothing },
  ],
  { 'system prompt': 1 },
);

/** What each file of test/fixtures/otlp says. */
export const EXPECTED_EXPORTS: Readonly<Record<string, ExpectedExport>> = {
  // Messages are in log records, the ids on the span of the request.
  'openai-opentelemetry.logs.pb': expectedExport(
    [
      { trace: 1, span: 1, kind: 'event', ...first },
      { trace: 2, span: 2, kind: 'event', ...callsTool },
      { trace: 2, span: 3, kind: 'event', ...second, continues: true },
      { trace: 3, span: 4, kind: 'event', ...first },
    ],
    { 'system prompt': 4, 'tool call': 2, 'tool result': 1 },
    17,
  ),
  'openai-opentelemetry.traces.pb': SPANS_WITHOUT_CONTENT,
  'openai-opentelemetry-without-content.logs.jsonl': expectedExport(
    [
      { trace: 1, span: 1, kind: 'event', ...unrecorded },
      { trace: 2, span: 2, kind: 'event', ...unrecorded },
      { trace: 2, span: 3, kind: 'event', ...unrecorded, continues: true },
      { trace: 3, span: 4, kind: 'event', ...unrecorded },
    ],
    { 'system prompt': 4, 'part without text': 3, 'tool call': 2, 'tool result': 1 },
    17,
  ),
  'openai-opentelemetry-without-content.traces.jsonl': SPANS_WITHOUT_CONTENT,
  // An agent with the same text as its call; a step between them carries the ids, too.
  'ai-sdk.traces.jsonl': expectedExport(
    [
      { trace: 1, span: 1, parent: 2, kind: 'chat', ...first },
      { trace: 1, span: 2, parent: 3, kind: 'other', ...whose, ...nothing },
      { trace: 1, span: 3, kind: 'agent', ...whose, ...first },
      { trace: 2, span: 4, parent: 6, kind: 'chat', ...callsTool },
      { trace: 2, span: 5, parent: 6, kind: 'other', ...nothing },
      { trace: 2, span: 6, parent: 9, kind: 'other', ...whose, ...nothing },
      { trace: 2, span: 7, parent: 8, kind: 'chat', ...second, continues: true },
      { trace: 2, span: 8, parent: 9, kind: 'other', ...whose, ...nothing },
      { trace: 2, span: 9, kind: 'agent', ...whose, ...second, ...taking(2) },
    ],
    { 'system prompt': 5, 'tool call': 3, 'tool result': 3 },
  ),
  'ai-sdk-without-content.traces.pb': expectedExport([
    { trace: 1, span: 1, parent: 2, kind: 'chat', ...unrecorded },
    { trace: 1, span: 2, parent: 3, kind: 'other', ...whose, ...nothing },
    { trace: 1, span: 3, kind: 'agent', ...whose, ...nothing },
    { trace: 2, span: 4, parent: 6, kind: 'chat', ...unrecorded },
    { trace: 2, span: 5, parent: 6, kind: 'other', ...nothing },
    { trace: 2, span: 6, parent: 9, kind: 'other', ...whose, ...nothing },
    { trace: 2, span: 7, parent: 8, kind: 'chat', ...unrecorded },
    { trace: 2, span: 8, parent: 9, kind: 'other', ...whose, ...nothing },
    { trace: 2, span: 9, kind: 'agent', ...whose, ...nothing, ...taking(2) },
  ]),
  'ai-sdk-legacy.traces.pb': expectedExport(
    [
      { trace: 1, span: 1, parent: 2, kind: 'chat', ...whose, ...first },
      { trace: 1, span: 2, kind: 'agent', ...whose, ...first },
      { trace: 2, span: 3, parent: 4, kind: 'other', ...whose, ...nothing },
      { trace: 2, span: 4, parent: 6, kind: 'chat', ...whose, ...callsTool },
      { trace: 2, span: 5, parent: 6, kind: 'chat', ...whose, ...second, continues: true },
      { trace: 2, span: 6, kind: 'agent', ...whose, ...second, ...taking(2) },
    ],
    { 'system prompt': 5, 'tool call': 3, 'tool result': 2 },
  ),
  // Each call is a trace of its own; a call of a tool is made by the application.
  'openai-openinference.traces.jsonl': expectedExport(
    [
      { trace: 1, span: 1, kind: 'chat', ...whose, ...first },
      { trace: 2, span: 2, kind: 'chat', ...whose, ...callsTool },
      { trace: 3, span: 3, kind: 'chat', ...whose, ...second, continues: true },
      { trace: 4, span: 4, kind: 'chat', ...first },
      { trace: 5, span: 5, kind: 'other', ...nothing },
    ],
    { 'system prompt': 4, 'tool call': 2, 'tool result': 1 },
    5,
    3,
  ),
};
