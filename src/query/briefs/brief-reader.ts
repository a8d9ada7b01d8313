/**
 * Answers GET /v1/gaps/{id}/brief: what people asked for where an assistant lacked something, for whoever closes the
 * gap. Counts come from one snapshot; every quote is without personal data.
 *
 * Test: test/e2e/brief-rules.test.ts.
 */
import { giveWay } from '../../domain/give-way.ts';
import { KINDS } from '../../domain/kinds.ts';
import { metricOfNothing } from '../../domain/metrics.ts';
import { MASKED_KINDS, type MaskedKind } from '../../domain/placeholders.ts';
import { roleOf, type RecordedMessage } from '../../domain/records.ts';
import { DAY_MICROS, formatInstant } from '../../domain/time.ts';
import { AppError } from '../../errors.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { answerQuery } from '../answer.ts';
import { InstanceReader, readInstanceRow } from '../instance-reader.ts';
import { cachedNames, entityById } from '../names.ts';
import { parseQueryParameters, zoneOf } from '../parameters.ts';
import { LONG_ANSWER } from '../places.ts';
import { rangeIn } from '../routing.ts';
import { segmentCondition } from '../segments.ts';
import type { WhyReaderOptions } from '../why/why-reader.ts';
import { mostTypical } from '../why/wordings.ts';
import { MOST_GROUPS, MOST_QUESTIONS, type BriefParameters, type BriefResponse } from './brief-schema.ts';

export interface BriefReaderOptions extends WhyReaderOptions {
  /** Loads the search for what requests hold; called only if there are any. */
  readonly argumentsIn: () => Promise<(content: string) => ReadonlySet<MaskedKind>>;
}

const FIELDS = ['sessions', 'users', 'dissatisfied', 'excessDissatisfied', 'handedOver', 'cameBack'] as const;
/** Messages before a reply among which its request is looked for. */
const LOOKED_BACK = 4;
/** A shorter message, such as "yes please", is not taken for the request while an earlier one is longer; UTF-16 units. */
const SHORT = 15;
/** A request lies at most so long before the range that its reply is in. */
const ASKED_WITHIN = 7 * DAY_MICROS;
const MOST_ANSWERS = 3;
/** Replies of a topic from which answers are chosen: each is compared with all others. */
const ANSWERS_OF_TOPIC = 2;

type Said = BriefResponse['answers'][number];

/** A reply that shows the gap, and the messages before it, the nearest first. */
interface Reply {
  readonly micro: number | null;
  readonly topic: number | null;
  /** Sessions with the topic. */
  readonly size: number;
  readonly sessionId: string;
  readonly position: number;
  readonly at: number;
  readonly before: { readonly position: number; readonly at: number }[];
}

export class BriefReader extends InstanceReader<BriefReaderOptions> {
  /**
   * `id`: lower case. The caller checks that the instance exists. Throws AppError NOT_FOUND for an unknown gap,
   * SERVICE_UNAVAILABLE while the views or the texts cannot be read.
   */
  async read(id: string, parameters: BriefParameters, caller = ''): Promise<BriefResponse> {
    const { replies, others, topics, ...answer } = await this.options
      .readerOf(parameters.instanceId)
      .read((snapshot) => this.#find(snapshot, id, parameters), caller, LONG_ANSWER);
    return { ...answer, ...(await this.#quoted(replies, topics)), others };
  }

  async #find(snapshot: Snapshot, id: string, parameters: BriefParameters) {
    const { instanceId } = parameters;
    const row = await readInstanceRow(snapshot, instanceId);
    const instance = row === undefined ? null : (row['instance'] as number);
    const names = instance === null ? null : await cachedNames(snapshot, 'gap', instance);
    const found = names === null ? null : entityById(names, id);
    if (found === null || instance === null || row === undefined)
      throw new AppError('NOT_FOUND', `There is no gap ${id} in this instance.`);
    const { heir: gap, number } = found;
    const query = parseQueryParameters({ instanceId, groupBy: 'GAP', fields: FIELDS.join(',') });
    const { elements, lastProcessedAt } = await answerQuery(
      snapshot,
      {
        ...query,
        range: { start: parameters['dateRange.start'] ?? null, end: parameters['dateRange.end'] ?? null },
        timeZone: zoneOf(parameters.timeZone),
        segment: parameters.segment ?? [],
        ids: [gap['id'] as string],
      },
      this.options,
    );
    const replies = await readReplies(snapshot, instance, number, parameters);
    const sessions = elements[0]?.fields.sessions ?? 0;
    const listed = new Map(replies.map(({ topic, size }) => [topic, size]));
    const topicNames = await cachedNames(snapshot, 'topic', instance);
    return {
      gap: {
        id: gap['id'] as string,
        name: gap['name'] as string,
        gapType: gap['gap_type'] as 'TOOL' | 'KNOWLEDGE',
        description: gap['description'] as string,
      },
      fields:
        elements[0]?.fields ?? Object.fromEntries(FIELDS.map((field) => [field, metricOfNothing(field)])),
      replies,
      others: sessions - [...listed.values()].reduce((sum, size) => sum + size, 0),
      topics: new Map(
        [...topicNames].map(([topic, of]) => [topic, { id: of['id'] as string, name: of['name'] as string }]),
      ),
      lastProcessedAt: lastProcessedAt ?? formatInstant(row['processed_at'] as number),
    };
  }

  /** Reads the texts; those that are gone are left out. */
  async #quoted(
    replies: readonly Reply[],
    topics: ReadonlyMap<number, { readonly id: string; readonly name: string }>,
  ): Promise<Pick<BriefResponse, 'groups' | 'read' | 'arguments' | 'answers'>> {
    const { texts, examples, argumentsIn } = this.options;
    const positions = replies.flatMap(({ position, before }) => [
      position,
      ...before.map((one) => one.position),
    ]);
    const read = await texts.read([...new Set(positions)]);
    if (read.size === 0)
      return { groups: groupsOf(replies, topics, () => null), read: 0, arguments: [], answers: [] };
    const [exampleOf, findArguments] = await Promise.all([examples(), argumentsIn()]);
    const messageAt = (position: number): RecordedMessage | null => {
      const found = read.get(position);
      return found !== undefined && 'message' in found ? found.message : null;
    };
    // The assistant may call users by words of their id.
    const quote = (sessionId: string, position: number, at: number, userId?: string): Said | null => {
      const message = messageAt(position);
      if (message === null) return null;
      const text = exampleOf(message.content, userId ?? message.userId);
      return text === '' ? null : { sessionId, position, createdAt: formatInstant(at), text };
    };
    const requests = new Map<Reply, Said>();
    const counts = new Map<MaskedKind, number>();
    for (const reply of replies) {
      await giveWay();
      const asked = requestOf(reply, messageAt);
      const said = asked === null ? null : quote(reply.sessionId, asked.position, asked.at);
      if (asked === null || said === null) continue;
      requests.set(reply, said);
      for (const kind of findArguments(asked.content)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    const answered = [...Map.groupBy(replies, ({ topic }) => topic).values()];
    const quotable = answered.flatMap((group) => group.slice(0, ANSWERS_OF_TOPIC));
    const answers = quotable.flatMap((reply) => {
      const { micro, sessionId, position, at } = reply;
      const said = quote(sessionId, position, at, requestOf(reply, messageAt)?.userId);
      return said === null ? [] : [{ micro, text: said.text, said }];
    });
    return {
      groups: groupsOf(replies, topics, (reply) => requests.get(reply) ?? null),
      read: requests.size,
      arguments: MASKED_KINDS.flatMap((kind) => {
        const found = counts.get(kind) ?? 0;
        return found === 0 ? [] : [{ kind, requests: found }];
      }).sort((a, b) => b.requests - a.requests),
      answers: mostTypical(answers, MOST_ANSWERS).map(({ said }) => said),
    };
  }
}

function groupsOf(
  replies: readonly Reply[],
  topics: ReadonlyMap<number, { readonly id: string; readonly name: string }>,
  requestIn: (reply: Reply) => Said | null,
): BriefResponse['groups'] {
  return [...Map.groupBy(replies, ({ topic }) => topic)].map(([topic, group]) => {
    const asked = group.flatMap((reply) => {
      const said = requestIn(reply);
      return said === null ? [] : [{ micro: reply.micro, text: said.text, said }];
    });
    return {
      topic: (topic === null ? undefined : topics.get(topic)) ?? null,
      sessions: group[0]?.size ?? 0,
      questions: mostTypical(asked, MOST_QUESTIONS).map(({ said }) => said),
    };
  });
}

/** The user's message that a reply answers: the nearest one before it that says enough, or else the nearest. */
function requestOf(
  { before }: Reply,
  messageAt: (position: number) => RecordedMessage | null,
): (Pick<RecordedMessage, 'content' | 'userId'> & { readonly position: number; readonly at: number }) | null {
  const asked = before.flatMap((one) => {
    const message = messageAt(one.position);
    return message !== null && roleOf(message.role) === 'user' ? [{ ...message, ...one }] : [];
  });
  return asked.find(({ content }) => content.trim().length >= SHORT) ?? asked[0] ?? null;
}

/** Reads the first reply of each session that shows the gap: the newest of the largest topics. */
async function readReplies(
  snapshot: Snapshot,
  instance: number,
  gap: number,
  parameters: BriefParameters,
): Promise<Reply[]> {
  const range = rangeIn(parameters);
  const isOpen = range.start === -Infinity;
  const chosen = segmentCondition(parameters.segment ?? [], instance);
  const within = { instance, from: range.start, to: range.end };
  const rows = await snapshot.all(
    `with first as materialized (
  select f.position, f.session, f.event_at, f.micro, m.topic
  from (
    select position, session, event_at, micro from @own
    where not gone and entity = ${gap} and ${isOpen ? "prev_session_at = '-infinity'" : 'prev_session_at < $start'}
      ${chosen.sql === null ? '' : `and ${chosen.sql}`}
  ) f left join @micro m using (micro)
),
largest as (
  select topic, count(*)::integer as size, max(event_at) as newest from first group by topic
  order by topic is null, size desc, newest desc, topic limit ${MOST_GROUPS}
),
reply as materialized (
  select f.*, l.size, l.newest,
    row_number() over (partition by f.topic order by f.event_at desc, f.position desc) as place
  from first f join largest l on l.topic is not distinct from f.topic
  qualify place <= ${2 * MOST_QUESTIONS}
),
earlier as (
  select r.position as reply, a.position, a.event_at,
    row_number() over (partition by r.position order by a.event_at desc, a.position desc) as back
  from reply r join @sent a on a.session = r.session and (a.event_at, a.position) < (r.event_at, r.position)
  where not a.gone
  qualify back <= ${LOOKED_BACK}
)
select r.position, r.event_at, r.micro, r.topic, r.size, s.id::varchar as id, e.position as asked,
  e.event_at as asked_at
from reply r join @sessions s on s.session = r.session
left join earlier e on e.reply = r.position
order by r.topic is null, r.size desc, r.newest desc, r.topic, r.event_at desc, r.position desc, e.back`,
    {
      rows: {
        ...chosen.rows,
        own: factRows(within, KINDS.gap),
        sent: factRows({ ...within, from: range.start - ASKED_WITHIN }, KINDS.all),
        sessions: { table: 'session', equal: { instance } },
        micro: { table: 'micro', equal: { instance } },
      },
      bindings: { ...chosen.bindings, ...(isOpen ? {} : { start: { at: range.start } }) },
    },
  );
  const replies = new Map<number, Reply>();
  for (const row of rows) {
    const position = row['position'] as number;
    const reply = replies.get(position) ?? {
      micro: row['micro'] as number | null,
      topic: row['topic'] as number | null,
      size: row['size'] as number,
      sessionId: row['id'] as string,
      position,
      at: row['event_at'] as number,
      before: [],
    };
    if (row['asked'] !== null)
      reply.before.push({ position: row['asked'] as number, at: row['asked_at'] as number });
    replies.set(position, reply);
  }
  return [...replies.values()];
}

function factRows(
  { instance, from, to }: { readonly instance: number; readonly from: number; readonly to: number },
  kind: number,
) {
  return { table: 'message_fact', equal: { instance, kind }, range: { from, to } };
}
