/** One conversation, message by message, with what was found where it was said. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type SessionResponse } from './api.ts';
import { conversationParameters, filtersOf } from './filters.ts';
import { languageName, shownCount, shownInstant } from './format.ts';
import { useAnswer, useKeys, useNavigation } from './hooks.ts';
import { MakeTopic } from './curate.tsx';
import { Fault, Go } from './parts.tsx';
import { usePeriod } from './period.ts';

type Message = SessionResponse['messages'][number];

/** Conversations of the list that next and previous walk through. */
const WALKED = 10_000;

export function Session({ version }: { readonly version: string }) {
  const { state, go } = useNavigation();
  const period = usePeriod();
  const { session: id, instance } = state;
  const filters = filtersOf(state);
  const [more, setMore] = useState<readonly Message[]>([]);
  const [next, setNext] = useState<string | null>(null);
  const { value, error } = useAnswer(`session ${id}`, version, (signal) =>
    api.session(id, { instanceId: instance, limit: 200 }, signal),
  );
  useEffect(() => {
    setMore([]);
    setNext(value?.pagination.next ?? null);
  }, [value]);
  const list = useAnswer(`walk ${period.name} ${JSON.stringify(filters)}`, '', (signal) =>
    api.query(
      { ...conversationParameters(period, filters), fields: 'messages', dimensionFields: '', limit: WALKED },
      signal,
    ),
  );
  const ids = (list.value?.elements ?? []).map(({ dimensions }) => dimensions.session?.id ?? '');
  const place = ids.indexOf(id);
  const walk = (step: number): void => {
    const other = place < 0 ? undefined : ids[place + step];
    if (other !== undefined) go({ session: other });
  };
  useKeys((key) => {
    if (key === 'j') walk(1);
    else if (key === 'k') walk(-1);
    else if (key === 'Escape') go({ session: '' });
  });
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [id]);
  if (value === null) return error === null ? <p class="loading">Loading …</p> : <Fault error={error} />;
  const { session } = value;
  return (
    <article class="session">
      <nav aria-label="Conversations">
        <Go to={{ session: '' }}>Back</Go>
        <span class="walk">
          <button type="button" disabled={place <= 0} onClick={() => walk(-1)}>
            Previous <kbd>k</kbd>
          </button>
          <span class="faint">
            {place < 0 ? '' : `${place + 1} of ${shownCount(list.value?.pagination.total)}`}
          </span>
          <button type="button" disabled={place < 0 || place >= ids.length - 1} onClick={() => walk(1)}>
            Next <kbd>j</kbd>
          </button>
        </span>
      </nav>
      <h1 tabIndex={-1} ref={heading}>
        {session.title ?? 'Conversation without a title'}
      </h1>
      {session.summary === null ? null : <p class="lead">{session.summary}</p>}
      <p class="faint">
        {shownInstant(session.createdAt)} · {shownCount(session.messages)} messages ·{' '}
        {languageName(session.language)}
        {session.endUser === null ? null : (
          <>
            {' · '}
            <Go to={{ view: 'user', id: session.endUser.id, session: '' }}>{session.endUser.externalId}</Go>
          </>
        )}
      </p>
      <Metadata metadata={session.metadata} />
      <ol class="transcript">
        {[...value.messages, ...more].map((message) => (
          <Said key={message.position} message={message} />
        ))}
      </ol>
      {next === null ? null : (
        <button
          type="button"
          onClick={() => {
            void api.session(id, { instanceId: instance, limit: 200, cursor: next }).then((page) => {
              setMore([...more, ...page.messages]);
              setNext(page.pagination.next);
            });
          }}
        >
          Show more messages
        </button>
      )}
    </article>
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

const GONE = {
  EXPIRED: 'The text is gone: the stream keeps none so old.',
  DELETED: 'The text was deleted.',
  UNREADABLE: 'The text cannot be read: its entry in the stream is damaged.',
} as const;

const USER_ROLES = new Set(
  'user human customer end_user end-user enduser client visitor guest contact'.split(' '),
);

function Said({ message }: { readonly message: Message }) {
  const { role, content, gone, createdAt, topic, signals, gap, repeatedRequest } = message;
  const isUser = role !== null && USER_ROLES.has(role.toLowerCase());
  return (
    <li class={isUser ? 'said user' : 'said'} id={`m${message.position}`}>
      <p class="who">
        {role ?? 'unknown'} <time dateTime={createdAt}>{shownInstant(createdAt)}</time>
      </p>
      {content === null ? <p class="gone">{GONE[gone ?? 'UNREADABLE']}</p> : <p class="content">{content}</p>}
      <p class="found">
        {signals.map(({ id, name, signalType }) => (
          <Go
            key={id}
            to={{ view: 'signal', id, session: '' }}
            class={signalType === 'SAT' ? 'tag good' : 'tag bad'}
          >
            {name}
          </Go>
        ))}
        {gap === null ? null : (
          <Go to={{ view: 'gap', id: gap.id, session: '' }} class="tag warn">
            Gap: {gap.name}
          </Go>
        )}
        {repeatedRequest === null ? null : (
          <Go to={{ view: 'repeat', id: repeatedRequest.id, session: '' }} class="tag warn">
            Asked again: {repeatedRequest.name}
          </Go>
        )}
        {topic === null || !isUser ? null : (
          <Go to={{ view: 'topic', id: topic.id, session: '' }} class="tag">
            {topic.name}
          </Go>
        )}
        {content === null || !isUser ? null : <MakeTopic example={content} words="Make this a topic" />}
      </p>
    </li>
  );
}
