/**
 * The transcript of a conversation, with the findings of each message.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { api, type ApiError, type SessionResponse } from './api.ts';
import { conversationParameters, filtersOf } from './filters.ts';
import { languageName, formatCount, formatInstant } from './format.ts';
import { useAnswer, useKeys, useNavigation, useTitle } from './hooks.ts';
import { CorrectOutcome, CorrectTopic, NotFound, ShowsSignal } from './correct.tsx';
import { MakeTopic } from './curate.tsx';
import { Erase } from './erase.tsx';
import { ErasingContext } from './erasing.ts';
import { SaveLabel } from './labels.tsx';
import { Fault, Go, Loading, Outcome } from './parts.tsx';
import { usePeriod } from './period.ts';
import { goneWords, isOfUser, isTextRemoved, mayAsk, titleOf } from './transcript-words.ts';

type Message = SessionResponse['messages'][number];

/** Limit of conversations for next and previous. */
const WALKED = 10_000;

export function Session({ version }: { readonly version: string }) {
  const { state, go } = useNavigation();
  const { value, error, messages, fault, showMore } = useMessages(state.instance, state.session, version);
  const walk = useWalk();
  useKeys((key) => {
    if (key === 'j') walk.by(1);
    else if (key === 'k') walk.by(-1);
    else if (key === 'Escape') go({ session: '' });
  });
  // A text that is gone has no role, so its topic may be that of a reply, which is the same.
  const topic = messages.find((message) => message.topic !== null)?.topic?.name ?? null;
  const textDays = useTextDays(value !== null && isTextRemoved(value.session));
  useTitle(value === null ? '' : titleOf(value.session, topic, 'Conversation'));
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [state.session]);
  if (value === null) return error === null ? <Loading /> : <Fault error={error} />;
  const { session } = value;
  const title = titleOf(session, topic, 'Conversation without a title');
  return (
    <article class="session">
      <WalkButtons walk={walk} />
      <h1 tabIndex={-1} ref={heading}>
        {title}
      </h1>
      {session.summary === null ? null : <p class="lead">{session.summary}</p>}
      <p class="faint">
        {formatInstant(session.createdAt)} · {formatCount(session.messages)} messages ·{' '}
        {languageName(session.language)} · <Outcome outcome={session.outcome} />
        <CorrectOutcome sessionId={session.id} outcome={session.outcome} />
        {session.endUser === null ? null : (
          <>
            {' · '}
            <Go to={{ view: 'user', id: session.endUser.id, session: '' }}>{session.endUser.externalId}</Go>
          </>
        )}
      </p>
      <div class="curate">
        <Erase what={{ kind: 'SESSION', id: session.id, name: title }} after={{ session: '' }} />
      </div>
      <Metadata metadata={session.metadata} />
      <ol class="transcript">
        {messages.map((message, index) => (
          <TranscriptMessage
            key={message.position}
            message={message}
            topicBefore={messages.slice(0, index).findLast(isOfUser)?.topic?.id ?? null}
            textDays={textDays}
          />
        ))}
      </ol>
      {fault === null ? null : <Fault error={fault} />}
      {showMore === null ? null : (
        <button type="button" onClick={showMore}>
          Show more messages
        </button>
      )}
    </article>
  );
}

/** Days that texts of the instance are kept; null if they are not limited, or if the key may not read them. */
function useTextDays(isWanted: boolean): number | null {
  const { state } = useNavigation();
  const isAllowed = useContext(ErasingContext)?.reason === '';
  const { value } = useAnswer(`text days ${state.instance} ${isWanted && isAllowed}`, '', async (signal) =>
    isWanted && isAllowed ? api.retention(state.instance, signal) : null,
  );
  return value?.textDays ?? null;
}

const PAGE = 200;

/** Loads a conversation with its first messages, and more on request; `showMore` is null at the end. */
function useMessages(instanceId: string, id: string, version: string) {
  const { value, error } = useAnswer(`session ${id}`, version, (signal) =>
    api.session(id, { instanceId, limit: PAGE }, signal),
  );
  const [more, setMore] = useState<More>({ ...NONE, behind: null, next: null });
  // Discards pages that belong to an older answer or another conversation.
  const known =
    more.behind === value ? more : { ...NONE, behind: value, next: value?.pagination.next ?? null };
  const { messages, next, fault } = known;
  const showMore = (): void => {
    if (next === null) return;
    // Keeps a page that arrived in the meantime.
    const set = (changes: Partial<More>): void =>
      setMore((last) => (last === more ? { ...known, fault: null, ...changes } : last));
    api.session(id, { instanceId, limit: PAGE, cursor: next }).then(
      (page) => set({ messages: [...messages, ...page.messages], next: page.pagination.next }),
      (thrown: ApiError) => set({ fault: thrown }),
    );
  };
  return {
    value,
    error,
    messages: [...(value?.messages ?? []), ...messages],
    fault,
    showMore: next === null ? null : showMore,
  };
}

interface More {
  readonly behind: SessionResponse | null;
  readonly messages: readonly Message[];
  readonly next: string | null;
  readonly fault: ApiError | null;
}

const NONE = { messages: [], fault: null } as const;

interface Walk {
  /** Index in the list; -1 if it is not there. */
  readonly place: number;
  readonly count: number;
  readonly total: number | undefined;
  readonly by: (step: number) => void;
}

/** Next and previous conversation of the list that this one was opened from. */
function useWalk(): Walk {
  const { state, go } = useNavigation();
  const period = usePeriod();
  const filters = filtersOf(state);
  const { value } = useAnswer(`walk ${period.name} ${state.order} ${JSON.stringify(filters)}`, '', (signal) =>
    api.query(
      {
        ...conversationParameters(period, filters, state.order),
        fields: 'messages',
        dimensionFields: '',
        limit: WALKED,
      },
      signal,
    ),
  );
  const ids = (value?.elements ?? []).map(({ dimensions }) => dimensions.session?.id ?? '');
  const place = ids.indexOf(state.session);
  const by = (step: number): void => {
    const other = place < 0 ? undefined : ids[place + step];
    if (other !== undefined) go({ session: other });
  };
  return { place, count: ids.length, total: value?.pagination.total, by };
}

function WalkButtons({ walk: { place, count, total, by } }: { readonly walk: Walk }) {
  return (
    <nav aria-label="Conversations">
      <Go to={{ session: '' }}>Back</Go>
      <span class="walk">
        <button type="button" disabled={place <= 0} onClick={() => by(-1)}>
          Previous <kbd>k</kbd>
        </button>
        <span class="faint">{place < 0 ? '' : `${place + 1} of ${formatCount(total)}`}</span>
        <button type="button" disabled={place < 0 || place >= count - 1} onClick={() => by(1)}>
          Next <kbd>j</kbd>
        </button>
      </span>
    </nav>
  );
}

function Metadata({ metadata }: { readonly metadata: Readonly<Record<string, unknown>> }) {
  const members = Object.entries(metadata);
  if (members.length === 0) return null;
  return (
    <details class="metadata">
      <summary>Metadata</summary>
      <dl>
        {members.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function TranscriptMessage({
  message,
  topicBefore,
  textDays,
}: {
  readonly message: Message;
  /** Topic of the user's turn before. */
  readonly topicBefore: string | null;
  /** Days that texts are kept; null if unknown. */
  readonly textDays: number | null;
}) {
  const { position, role, content, gone, createdAt, topic, labels, signals, feedback, gap, repeatedRequest } =
    message;
  const isUser = isOfUser(message);
  const begins = topic !== null && topic.id !== topicBefore;
  return (
    <li class={isUser ? 'said user' : 'said'} id={`m${message.position}`}>
      <p class="who">
        {role === null ? '' : `${role} `}
        <time dateTime={createdAt}>{formatInstant(createdAt)}</time>
      </p>
      {content === null ? <p class="gone">{goneWords(gone, textDays)}</p> : <p class="content">{content}</p>}
      <p class="found">
        {signals.map(({ id, name, signalType }) => (
          <span key={id}>
            <Go
              to={{ view: 'signal', id, session: '' }}
              class={signalType === 'SAT' ? 'tag good' : 'tag bad'}
            >
              {name}
            </Go>
            <NotFound position={position} finding={{ by: 'signalId', id, name }} />
          </span>
        ))}
        <Thumbs count={feedback.up} words="Thumbs up" look="tag good" />
        <Thumbs count={feedback.down} words="Thumbs down" look="tag bad" />
        {gap === null ? null : (
          <span>
            <Go to={{ view: 'gap', id: gap.id, session: '' }} class="tag warn">
              Gap: {gap.name}
            </Go>
            <NotFound position={position} finding={{ by: 'gapId', ...gap }} />
          </span>
        )}
        {repeatedRequest === null ? null : (
          <span>
            <Go to={{ view: 'repeat', id: repeatedRequest.id, session: '' }} class="tag warn">
              Asked again: {repeatedRequest.name}
            </Go>
            <NotFound position={position} finding={{ by: 'repeatedRequestId', ...repeatedRequest }} />
          </span>
        )}
        {topic === null || !isUser ? null : (
          <Go to={{ view: 'topic', id: topic.id, session: '' }} class="tag">
            {topic.name}
          </Go>
        )}
        {(isUser ? labels : []).map(({ id, name }) => (
          <Go key={id} to={{ view: 'label', id, session: '' }} class="tag">
            Label: {name}
          </Go>
        ))}
        {content !== null && isUser && (begins || mayAsk(message, topicBefore)) ? (
          <CorrectTopic text={content} topic={topic} />
        ) : null}
        {content !== null && isUser && signals.length === 0 ? <ShowsSignal position={position} /> : null}
        {content !== null && isUser && mayAsk(message, topicBefore) ? (
          <>
            <MakeTopic examples={[content]} words="Make this a topic" isQuiet />
            <SaveLabel text={content} words="Save as label" isQuiet />
          </>
        ) : null}
      </p>
    </li>
  );
}

/** How many end users gave a message a thumb; nothing if none did. */
function Thumbs({
  count,
  words,
  look,
}: {
  readonly count: number;
  readonly words: string;
  readonly look: string;
}) {
  if (count === 0) return null;
  return (
    <span class={look} title="Given by end users">
      {count === 1 ? words : `${words} × ${count}`}
    </span>
  );
}
