/**
 * Checks of a number: what people said of conversations that they read, the interval that follows, and the next
 * conversations to read.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Checked, Verdict } from '../../../domain/checks.ts';
import { roleOf } from '../../../domain/records.ts';
import { api, type ApiError, type ChecksResponse, type SessionResponse } from './api.ts';
import { useCurating } from './curating.ts';
import { counted, formatShare } from './format.ts';
import { useAnswer, useKeys, useNavigation } from './hooks.ts';
import { Fault, Loading, Section } from './parts.tsx';
import { usePeriod } from './period.ts';
import type { EntityKind } from './state.ts';
import { goneWords } from './transcript-words.ts';

const OF: Readonly<Partial<Record<EntityKind, Checked>>> = {
  topic: 'TOPIC',
  signal: 'SIGNAL',
  gap: 'GAP',
  repeat: 'REPEATED_REQUEST',
};

/** The question about a conversation, before the name of what is checked. */
const QUESTIONS: Readonly<Record<Checked, string>> = {
  TOPIC: 'Is this conversation about',
  SIGNAL: 'Does the user show this here:',
  GAP: 'Does the assistant lack this here:',
  REPEATED_REQUEST: 'Does the user have to ask again for',
};

const ANSWERS = [
  { verdict: 'YES', key: 'y', words: 'Yes' },
  { verdict: 'NO', key: 'n', words: 'No' },
  { verdict: 'UNSURE', key: '?', words: 'Cannot tell' },
] as const satisfies readonly { verdict: Verdict; key: string; words: string }[];

/** Conversations of one request. */
const DRAWN = 20;

export function Checks({
  kind,
  id,
  version,
}: {
  readonly kind: EntityKind;
  readonly id: string;
  readonly version: string;
}) {
  const of = OF[kind];
  return of === undefined ? null : <ChecksOf of={of} id={id} version={version} />;
}

function ChecksOf({
  of,
  id,
  version,
}: {
  readonly of: Checked;
  readonly id: string;
  readonly version: string;
}) {
  const { reason } = useCurating();
  const period = usePeriod();
  const [isOpen, setOpen] = useState(false);
  const [given, setGiven] = useState(0);
  const { value, error } = useAnswer(`checks ${of} ${id} ${period.name}`, `${version} ${given}`, (signal) =>
    api.checks({ instanceId: period.instance, of, id, ...period.range, limit: DRAWN }, signal),
  );
  if (value === null || value.foundShare === null)
    return error === null || error.status === 404 ? null : <Fault error={error} />;
  return (
    <Section
      title="How sure is this"
      action={
        <button
          type="button"
          class="quiet"
          disabled={reason !== ''}
          title={reason}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? 'Stop checking' : 'Check'}
        </button>
      }
    >
      <Estimate found={value} />
      {isOpen ? <Reading of={of} found={value} onEmpty={() => setGiven(given + 1)} /> : null}
    </Section>
  );
}

function Estimate({ found: { foundShare, share, found, notFound } }: { readonly found: ChecksResponse }) {
  const checks = found.yes + found.no + notFound.yes + notFound.no;
  if (checks === 0)
    return (
      <p class="faint">
        Nobody has checked this number yet. Read a few conversations and say of each whether it is there: then
        it says here how far it can be trusted.
      </p>
    );
  return (
    <p>
      <strong>{formatShare(foundShare ?? 0)}</strong> of conversations found
      {share === null ? '' : ` · truly ${formatShare(share.low)} to ${formatShare(share.high)}`} ·{' '}
      {counted(checks, 'conversation')} checked
      {found.share === null ? null : (
        <span class="faint">
          {' '}
          · right in {found.yes} of {found.yes + found.no} found
        </span>
      )}
      {notFound.yes + notFound.no === 0 ? null : (
        <span class="faint">
          {' '}
          · missed in {notFound.yes} of {notFound.yes + notFound.no} others
        </span>
      )}
    </p>
  );
}

/** Shows one conversation after the other; each verdict leads to the next. */
function Reading({
  of,
  found,
  onEmpty,
}: {
  readonly of: Checked;
  readonly found: ChecksResponse;
  /** Called when all drawn conversations have a verdict. */
  readonly onEmpty: () => void;
}) {
  const { state } = useNavigation();
  const [said, setSaid] = useState<ReadonlySet<string>>(new Set());
  const [fault, setFault] = useState<ApiError | null>(null);
  const place = useRef<HTMLDivElement>(null);
  /** Verdicts on their way, the greatest position of those that arrived, and whether the last one was given. */
  const sent = useRef({ waiting: 0, position: 0n, isLast: false });
  const next = found.sample.find(({ sessionId }) => !said.has(sessionId));
  useEffect(() => place.current?.focus(), [next?.sessionId]);
  const say = (verdict: Verdict): void => {
    if (next === undefined) return;
    const { sessionId } = next;
    setSaid(new Set([...said, sessionId]));
    setFault(null);
    const isLast = found.sample.every((one) => one === next || said.has(one.sessionId));
    sent.current.waiting += 1;
    if (isLast) sent.current.isLast = true;
    api.check(state.instance, { of, id: found.checked.id, sessionId, verdict }).then(
      async ({ position }) => {
        const { current } = sent;
        current.waiting -= 1;
        if (BigInt(position) > current.position) current.position = BigInt(position);
        // The numbers follow at the end: an answer for each verdict would interrupt.
        if (current.waiting > 0 || !current.isLast) return;
        current.isLast = false;
        await api.settle(state.instance, String(current.position));
        onEmpty();
      },
      (thrown: ApiError) => {
        sent.current.waiting -= 1;
        sent.current.isLast = false;
        setFault(thrown);
        setSaid((all) => new Set([...all].filter((one) => one !== sessionId)));
      },
    );
  };
  useKeys((key) => {
    const answer = ANSWERS.find((one) => one.key === key.toLowerCase());
    if (answer !== undefined) say(answer.verdict);
  });
  if (next === undefined)
    return (
      <p class="faint">
        {found.sample.length === 0 ? 'All drawn conversations are checked.' : 'One moment …'}
      </p>
    );
  return (
    <div class="checking" tabIndex={-1} ref={place}>
      <p>
        {QUESTIONS[of]} <strong>{found.checked.name}</strong>?{' '}
        {ANSWERS.map(({ verdict, key, words }) => (
          <button key={verdict} type="button" onClick={() => say(verdict)}>
            {words} <kbd>{key}</kbd>
          </button>
        ))}
        <span class="faint"> {counted(said.size, 'verdict')} given</span>
      </p>
      {fault === null ? null : <Fault error={fault} />}
      <Read sessionId={next.sessionId} />
    </div>
  );
}

/** The conversation, without anything that was found in it: that would decide for the reader. */
function Read({ sessionId }: { readonly sessionId: string }) {
  const { state } = useNavigation();
  const { value, error } = useAnswer(`checked ${sessionId}`, '', (signal) =>
    api.session(sessionId, { instanceId: state.instance, limit: 50 }, signal),
  );
  if (value === null) return error === null ? <Loading /> : <Fault error={error} />;
  return (
    <ol class="transcript">
      {value.messages.map((message) => (
        <Turn key={message.position} message={message} />
      ))}
    </ol>
  );
}

function Turn({
  message: { role, content, gone },
}: {
  readonly message: SessionResponse['messages'][number];
}) {
  return (
    <li class={role !== null && roleOf(role) === 'user' ? 'said user' : 'said'}>
      <p class="who">{role}</p>
      {content === null ? <p class="gone">{goneWords(gone, null)}</p> : <p class="content">{content}</p>}
    </li>
  );
}
