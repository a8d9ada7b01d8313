/**
 * Assigns one turn within its session and instance: topic, signals, repeated request, gap. Keeps the invariant that the
 * session's state carries everything that later turns need: the micro-cluster under discussion, the requests so far,
 * the texts.
 *
 * Test: test/reader/threads/assigner.test.ts, test/reader/threads/turn-kinds.test.ts.
 */
import { assistantDirection } from '../conversations/about-assistant.ts';
import {
  asksForData,
  asksUser,
  canOnlyAnswer,
  holdsQuestion,
  isAsked,
  isBare,
} from '../acts/answering-turns.ts';
import { abilityName } from '../conversations/ability-name.ts';
import { authorOf } from '../conversations/authors.ts';
import type { NewRequest } from '../conversations/repeat-evidence.ts';
import { mayAskAgain, newRequest, repeatIn, type Repeat } from '../conversations/repeated-requests.ts';
import { redactTurn } from '../acts/redacted-turn.ts';
import { typeOf } from '../acts/signals.ts';
import { signalsInContext } from '../conversations/signal-context.ts';
import type { SessionState } from '../conversations/session-state.ts';
import { abilityKeysOf } from '../phrases/ability-keys.ts';
import { redact } from '../personal/redact.ts';
import { contentCount } from '../shortening/phrase-set.ts';
import { requestParts } from '../document/request-parts.ts';
import { sentencesOf } from '../document/sentences.ts';
import type { AssistantAct, Enrichment, FoundGap, MessageFact, Turn } from '../../domain/facts.ts';
import { SIGNALS, type ObservedKey } from '../../domain/signal-kinds.ts';
import { NO_WAIT, waitStep } from '../../domain/waits.ts';
import { dequantise } from '../numeric/quantised.ts';
import { ReadRequest } from '../topics/read-request.ts';
import { GAP_TYPES, type InstanceState } from './instance-state.ts';
import type { TurnReading } from './turn-reading.ts';
import { withRequest } from './ability-vector.ts';

const SIGNAL_INDEX = new Map<string, number>(SIGNALS.map(({ key }, index) => [key, index]));

/** Acts of the assistant that answer: whoever corrects one of its questions may only answer it. */
const ANSWERS: ReadonlySet<AssistantAct | null> = new Set<AssistantAct>([
  'answered',
  'unable',
  'asked-if-helped',
  'asked-for-more',
]);

export type MutableMessage = { -readonly [Key in keyof MessageFact]: MessageFact[Key] };

/** A turn, and the state that it changes. */
interface TurnInContext {
  readonly turn: Turn;
  /** The turn read on its own. */
  readonly reading: TurnReading;
  readonly enrichment: Enrichment;
  readonly instance: InstanceState;
  readonly session: SessionState;
}

/** Assigns the next turn of the stream. Changes the states of its session and instance. */
export function assignTurn(context: TurnInContext): MutableMessage {
  const { turn, instance, session } = context;
  const message: MutableMessage = {
    position: turn.position,
    instance: turn.instance,
    session: turn.session,
    user: authorOf(turn, session),
    at: turn.at,
    micro: null,
    signals: [],
    repeatedRequest: null,
    gap: null,
    wait: waitOf(turn, session),
    ...(turn.role === 'assistant' ? { isReply: true } : {}),
    ...(turn.usage === undefined ? {} : { usage: turn.usage }),
  };
  if (turn.role === 'other') return message;
  if (turn.role === 'user') assignUserTurn(context, message);
  message.micro = session.micro === null ? null : instance.topics.resolve(session.micro);
  if (turn.role === 'assistant') assignAssistantTurn(context, message);
  return message;
}

/** For an assistant turn: the user's wait for this reply. For a user turn: minus the wait for the reply before it. */
function waitOf({ role, at }: Turn, session: SessionState): number {
  if (role === 'user') {
    session.waitingSince = at;
    return 0 - session.waited;
  }
  if (role === 'other' || session.waitingSince === null) return NO_WAIT;
  session.waited = waitStep(at - session.waitingSince);
  session.waitingSince = null;
  return session.waited;
}

function assignUserTurn(
  { turn, reading, enrichment: found, instance, session }: TurnInContext,
  message: MutableMessage,
): void {
  const cut = instance.templates.cut(turn.session, session.requests.length === 0, found);
  const enrichment = isBareAnswer(turn, cut, session) ? asReply(cut) : cut;
  const counted = new Set(signalsInContext(enrichment.signals, session));
  const signals = new Set([...counted].map((key) => SIGNAL_INDEX.get(key)!));
  const { kind, vector } = enrichment;
  const ahead = enrichment === found ? reading.redacted : null;
  const redacted = redactTurn(turn, enrichment, session, { beginning: reading.beginning, redacted: ahead });
  if (kind !== 'reply') session.wantsAnswer = kind !== 'request' || wantsAnswer(enrichment);
  const isAsAhead = redacted === ahead;
  const mayAnswer = canOnlyAnswer(turn.content, turn.at, session.askedAt);
  const isAnswer = session.micro !== null && mayAnswer;
  const isLiked = counted.size > 0 && [...counted].every((key) => typeOf(key) === 'SAT');
  let repeat: Repeat | null = null;
  if (kind === 'request' && vector !== null && saysAnything(vector)) {
    const wasAsked = isAsked(turn.at, session.askedAt);
    const isUnfamiliar = enrichment.isUnfamiliar ?? false;
    const underDiscussion = session.micro;
    const read = isAsAhead ? reading.request : new ReadRequest(redacted.request);
    const reacts = session.micro !== null && counted.size > 0 && !holdsQuestion(turn.content);
    if (!reacts) moveToTopicOf({ vector, read, isUnfamiliar }, turn, instance, session);
    const known = isAsAhead ? { compared: reading.compared, readText: reading.keptRequest } : {};
    const request = newRequest(enrichment.request, vector, redacted.request, turn.content.length, known);
    repeat = isLiked ? null : repeatOf({ reading, instance, session }, request, wasAsked);
    // A repeat or complaint ("seriously? every other shop can do that") stays with the matter under discussion if its own
    // words match no topic.
    const complains = underDiscussion !== null && [...counted].some((key) => typeOf(key) === 'DSAT');
    if ((repeat !== null || complains) && !instance.topics.hasTopic(session.micro))
      session.micro = underDiscussion;
    const { action, thing } = request;
    const isAbout = thing !== 0 && (action !== 0 || asksAbout(redacted.request, read.parts.noun));
    request.standsAlone = isAbout && repeat === null && !reacts;
    session.addRequest(request);
  } else if (session.answered > 0 && !isLiked && mayAskAgain(enrichment, reading.edges)) {
    repeat = bareRepeatOf({ turn, reading, instance, session });
  }
  if (repeat !== null) message.repeatedRequest = groupOf(repeat, turn.position, session.micro, instance);
  if (repeat?.isSure === true) signals.add(SIGNAL_INDEX.get('repetition')!);
  const failures = session.conduct.addUserTurn({
    signals: counted,
    isRepeat: repeat !== null,
    bringsUp: kind === 'request' && !mayAnswer,
    asks: kind === 'request' && (counted.size === 0 || holdsQuestion(turn.content)) && asks(enrichment),
    givesData: mayAnswer && session.askedForData && !reading.edges.phrases.denies,
    isAnswered: ANSWERS.has(session.latestAct),
  });
  if (kind === 'about-assistant')
    session.micro = instance.topics.add(
      assistantDirection(instance.dimensions),
      new ReadRequest(enrichment.request),
      turn.position,
    );
  note([...signals, ...indexesOf(failures)], message, instance);
  const isRepeated = message.repeatedRequest !== null;
  const findings = {
    kind,
    request: redacted.request,
    sentences: redacted.sentences,
    signals: enrichment.signals.filter(({ key }) => counted.has(key)),
  };
  const asked = isAsAhead && kind === 'request' ? { asked: reading.asked } : {};
  session.text.addUserTurn(redacted.content, findings, { isAnswer, isRepeated, ...asked });
}

function assignAssistantTurn(
  { turn, reading, enrichment, instance, session }: TurnInContext,
  message: MutableMessage,
): void {
  if (enrichment.gap !== null && mayLack(enrichment.gap, session))
    message.gap = gapOf(enrichment.gap, turn, instance, session);
  session.answered = session.requests.length;
  session.latestAct = enrichment.act ?? null;
  session.askedAt = asksUser(turn.content) ? turn.at : null;
  session.askedForData = asksForData(turn.content);
  // Redacts before the cuts into sentences and edges: an address may span two of them.
  const { text, edges, answer } = reading.redactedAmong(session.known);
  session.answer = edges;
  note(indexesOf(session.conduct.addAssistantTurn(answer)), message, instance);
  const hide = (part: string): string => redact(part, session);
  session.text.addAssistantTurn(text, hide, enrichment.gap?.type, session.latestAct, answer);
}

function indexesOf(failures: readonly ObservedKey[]): number[] {
  return failures.map((key) => SIGNAL_INDEX.get(key)!);
}

function note(signals: readonly number[], message: MutableMessage, instance: InstanceState): void {
  message.signals = signals.toSorted((x, y) => x - y);
  for (const signal of signals) instance.signal(signal);
}

/** Finds the group of a missing ability, by the assistant's words and the request that they answer. */
function gapOf(
  gap: FoundGap,
  { position }: Turn,
  { gaps, topics }: InstanceState,
  session: SessionState,
): number {
  const asked = session.requests.at(-1);
  const request = session.subject?.text ?? '';
  const words = redact(gap.words, session);
  const label = GAP_TYPES.indexOf(gap.type);
  // "I have no information on that", said of "roughly? a week?", is what was missing before.
  const latest = session.gap === null ? null : gaps.resolve(session.gap);
  if (latest?.label === label && asked?.thing === 0 && requestParts(words, gap.language).thing.length === 0)
    return latest.number;
  const ability = {
    ...abilityKeysOf({ ...gap, request }),
    name: abilityName({
      ...gap,
      words,
      ...(gap.question === undefined ? {} : { question: redact(gap.question, session) }),
    }),
    language: gap.language,
  };
  const vector = withRequest(gap.vector, asked === undefined ? null : dequantise(asked.vector));
  session.gap = gaps.add({ vector, text: request, label, position, ability }, () => topics.frequencies());
  return session.gap;
}

/** Least words of a statement. Shorter texts may be requests without a verb: "opening hours Berlin". */
const LEAST_WORDS = 6;

/** True if a request asks or complains, or is too short to tell. */
function wantsAnswer(enrichment: Enrichment): boolean {
  const words = enrichment.sentences.reduce((sum, sentence) => sum + sentence.words, 0);
  return asks(enrichment) || words < LEAST_WORDS;
}

/** True if a request surely asks or complains. */
function asks({ sentences, request }: Enrichment): boolean {
  return sentences.some((sentence) => sentence.asks) || holdsQuestion(request);
}

/** False for "I did not know that" in reply to a mere statement: it names nothing that is missing. */
function mayLack({ type, words, language }: FoundGap, { wantsAnswer }: SessionState): boolean {
  return type === 'TOOL' || wantsAnswer || requestParts(words, language).thing.length > 0;
}

interface TopicalRequest {
  readonly vector: Float32Array;
  readonly read: ReadRequest;
  readonly isUnfamiliar: boolean;
}

/**
 * Puts the session under the topic of a request. Neither an answer nor a later question that names nothing ("can you
 * call them?") creates a topic: it joins the topic that it matches, else the one under discussion. A request of words
 * that the model does not know gets no topic, unless an own topic claims it.
 */
function moveToTopicOf(
  { vector, read, isUnfamiliar }: TopicalRequest,
  { content, at, position }: Turn,
  instance: InstanceState,
  session: SessionState,
): void {
  const { topics, thresholds } = instance;
  const isAnswer = session.micro !== null && canOnlyAnswer(content, at, session.askedAt);
  if (!isAnswer) session.askedAt = null;
  const isLater = session.requests.length > 0;
  if (isAnswer || (isLater && isUnspecific(content, read) && !topics.claims(vector, read))) {
    if (!isUnfamiliar) session.micro = topics.topicalMicro(vector) ?? session.micro;
    return;
  }
  session.micro = null;
  if (isUnfamiliar && !topics.claims(vector, read)) return;
  thresholds.add(vector);
  session.micro = topics.add(vector, read, position);
}

/** True for a question of at most one content word that names no thing: "Who can I ask?" */
function isUnspecific(content: string, { text, parts }: ReadRequest): boolean {
  return holdsQuestion(content) && parts.thing.length === 0 && contentCount(text) <= 1;
}

/** True for a bare name, date or the like that the assistant asked for, and for a code after any question. */
function isBareAnswer(
  { content, at }: Turn,
  { kind, sentences }: Enrichment,
  session: SessionState,
): boolean {
  if (kind !== 'request' || (!session.askedForData && !isCodeAlone(content))) return false;
  return (
    canOnlyAnswer(content, at, session.askedAt) && isBare(content) && !sentences.some(({ asks }) => asks)
  );
}

/** True for a single code or number. */
function isCodeAlone(content: string): boolean {
  const text = content.trim();
  return !/\s/u.test(text) && /\p{N}/u.test(text);
}

function asReply(enrichment: Enrichment): Enrichment {
  return { ...enrichment, kind: 'reply', request: '', vector: null, sentences: [] };
}

/** A turn that may repeat a request, with its session and instance. */
type Again = Pick<TurnInContext, 'reading' | 'instance' | 'session'>;

/** Finds the earlier request that this one repeats, or null. */
function repeatOf(
  { reading: { edges }, instance, session }: Again,
  request: NewRequest,
  wasAsked: boolean,
): Repeat | null {
  const { repeated, scale } = instance.thresholds;
  const asked = { request, edges, answer: session.answer, isAsked: wasAsked, isBare: false };
  return repeatIn(asked, session.requests.slice(0, session.answered), repeated, scale);
}

/**
 * Returns the latest answered request if a turn without content of its own repeats it: "still not working". Else null.
 */
function bareRepeatOf({
  turn: { content, at },
  reading: { edges },
  instance,
  session,
}: Again & Pick<TurnInContext, 'turn'>): Repeat | null {
  const request = newRequest(content, new Float32Array(instance.dimensions), '');
  const wasAsked = isAsked(at, session.askedAt);
  const asked = { request, edges, answer: session.answer, isAsked: wasAsked, isBare: true };
  return repeatIn(asked, [session.requests[session.answered - 1]!], instance.thresholds.repeated);
}

/** Finds the group of a repeat: by topic, else by the first wording, which is complete where later ones only hint. */
function groupOf(
  { of }: Repeat,
  position: number,
  micro: number | null,
  { repeated, topics }: InstanceState,
): number {
  const request = { vector: dequantise(of.vector), text: of.text, label: 0, position, micro };
  return repeated.add(request, () => topics.frequencies());
}

/** True if a question in the text names `noun`. False for "Can you find out? It matters for my trip". */
function asksAbout(text: string, noun: string): boolean {
  return sentencesOf(text).some((sentence) => holdsQuestion(sentence) && sentence.includes(noun));
}

/** False for the all-zero vector: the model knows no word of the text. */
function saysAnything(vector: Float32Array): boolean {
  return vector.some((component) => component !== 0);
}
