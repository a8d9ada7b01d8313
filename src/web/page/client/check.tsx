/**
 * Checks of a number: what people said of conversations that they read, the interval that follows, and the next
 * conversations to read.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CHECK_QUESTIONS } from '../../../domain/check-questions.ts';
import type { Checked, Verdict } from '../../../domain/checks.ts';
import { api, type ApiError, type ChecksResponse, type SessionResponse } from './api.ts';
import { useCurating } from './curating.ts';
import { counted, formatShare } from './format.ts';
import { useAnswer, useKeys, useNavigation } from './hooks.ts';
import { Fault, Go, Loading, Section } from './parts.tsx';
import { usePeriod } from './period.ts';
import type { EntityKind } from './state.ts';
import { goneWords, isOfUser } from './transcript-words.ts';

const OF: Readonly<Partial<Record<EntityKind, Checked>>> = {
  topic: 'TOPIC',
  signal: 'SIGNAL',
  gap: 'GAP',
  repeat: 'REPEATED_REQUEST',
};

const ANSWERS = [
  { verdict: 'YES', key: 'y', words: 'Yes' },
  { verdict: 'NO', key: 'n', words: 'No' },
  { verdict: 'UNSURE', key: '?', words: 'Cannot tell' },
] as const satisfies readonly { verdict: Verdict; key: string; words: string }[];

/** Conversations of one request. */
const DRAWN = 20;
/** Messages of a conversation that are shown. */
const SHOWN = 200;

export function Checks({ kind, id }: { readonly kind: EntityKind; readonly id: string }) {
  const of = OF[kind];
  return of === undefined ? null : <ChecksOf of={of} id={id} />;
}

/** Checks of all gaps of a type. */
export function ChecksOfGapType({ type }: { readonly type: 'TOOL' | 'KNOWLEDGE' }) {
  const title = `How sure are all gaps of ${type === 'TOOL' ? 'ability' : 'knowledge'}?`;
  return <ChecksOf of="GAP_TYPE" id={type} title={title} />;
}

export function ChecksOf({
  of,
  id,
  title = 'How sure is this?',
}: {
  readonly of: Checked;
  readonly id: string;
  readonly title?: string;
}) {
  const { reason, edits } = useCurating();
  const period = usePeriod();
  const [isOpen, setOpen] = useState(false);
  const [given, setGiven] = useState(0);
  const name = `checks ${of} ${id} ${period.name}`;
  const ask = (signal?: AbortSignal) =>
    api.checks({ instanceId: period.instance, of, id, ...period.dates, limit: DRAWN }, signal);
  // Not with each message that arrives: a draw orders all conversations of the period.
  const { value, error } = useAnswer(name, `${edits} ${given}`, ask);
  if (value === null || value.foundShare === null)
    return error === null || error.status === 404 ? null : <Fault error={error} />;
  return (
    <Section
      title={title}
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
      {Object.keys(period.segment).length === 0 ? null : (
        <p class="faint">Checks are of all conversations, whatever segment is chosen.</p>
      )}
      {error === null ? null : <Fault error={error} />}
      <SecondReader second={value.secondReader} />
      {isOpen ? (
        <Reading
          key={name}
          of={of}
          checked={value.checked}
          ask={ask}
          onSaid={() => setGiven((count) => count + 1)}
        />
      ) : null}
    </Section>
  );
}

function Estimate({ found: { foundShare, share, found, notFound } }: { readonly found: ChecksResponse }) {
  const checks = found.yes + found.no + notFound.yes + notFound.no;
  if (checks === 0)
    return (
      <p class="faint">
        Nobody has checked this number yet. Read a few conversations and say of each whether it is there: this
        line then says how far the number can be trusted.
      </p>
    );
  return (
    <p>
      Found in <strong>{formatShare(foundShare ?? 0)}</strong> of conversations
      {share === null ? '' : ` · truly in ${formatShare(share.low)} to ${formatShare(share.high)}`} ·{' '}
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

/** How far a language model that judged the same conversations agrees with people. */
function SecondReader({ second }: { readonly second: ChecksResponse['secondReader'] }) {
  if (second === null || second.both === 0) return null;
  return (
    <p class="faint">
      A second reader, {second.model}, agrees with people on {second.agreed} of {second.both}.
    </p>
  );
}

type Drawn = ChecksResponse['sample'];

/**
 * Shows one conversation after the other; each verdict leads to the next. Draws anew only when all drawn ones have a
 * verdict, so that no conversation changes under its reader.
 */
function Reading({
  of,
  checked,
  ask,
  onSaid,
}: {
  readonly of: Checked;
  readonly checked: ChecksResponse['checked'];
  readonly ask: () => Promise<ChecksResponse>;
  /** Called when the numbers hold all verdicts. */
  readonly onSaid: () => void;
}) {
  const { state } = useNavigation();
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  const [said, setSaid] = useState<ReadonlySet<string>>(new Set());
  const [fault, setFault] = useState<ApiError | null>(null);
  const place = useRef<HTMLDivElement>(null);
  /** The session whose transcript is shown; '' while there is none. A verdict is always on this one. */
  const shown = useRef('');
  /** Verdicts on their way, and the greatest position of those that arrived. */
  const sent = useRef({ waiting: 0, position: 0n });
  const draw = (): void => {
    setFault(null);
    setDrawn(null);
    ask().then(({ sample }) => setDrawn(sample), setFault);
  };
  useEffect(draw, []);
  const next = drawn?.find(({ sessionId }) => !said.has(sessionId));
  useEffect(() => place.current?.focus(), [next?.sessionId]);
  const isSaid = drawn !== null && next === undefined && sent.current.waiting === 0;
  useEffect(() => {
    if (!isSaid || drawn.length === 0) return;
    api
      .settle(state.instance, String(sent.current.position))
      .then(() => {
        onSaid();
        draw();
      })
      .catch(setFault);
  }, [isSaid]);
  const say = (verdict: Verdict): void => {
    const sessionId = shown.current;
    if (sessionId === '') return;
    shown.current = '';
    setSaid((all) => new Set([...all, sessionId]));
    setFault(null);
    sent.current.waiting += 1;
    const arrived = (): void => {
      sent.current.waiting -= 1;
      // Renders, so that the last one to arrive is noticed.
      setSaid((all) => new Set(all));
    };
    api.check(state.instance, { of, id: checked.id, sessionId, verdict }).then(
      ({ position }) => {
        if (BigInt(position) > sent.current.position) sent.current.position = BigInt(position);
        arrived();
      },
      (thrown: ApiError) => {
        arrived();
        setFault(thrown);
        setSaid((all) => new Set([...all].filter((one) => one !== sessionId)));
      },
    );
  };
  useKeys((key, isRepeated) => {
    const answer = isRepeated ? undefined : ANSWERS.find((one) => one.key === key.toLowerCase());
    if (answer !== undefined) say(answer.verdict);
  });
  if (next === undefined)
    return (
      <div>
        <p class="faint">{drawn?.length === 0 ? 'All drawn conversations are checked.' : 'One moment …'}</p>
        {fault === null ? null : (
          <>
            <Fault error={fault} />
            <button type="button" onClick={draw}>
              Try again
            </button>
          </>
        )}
      </div>
    );
  return (
    <div class="checking" tabIndex={-1} ref={place}>
      <p>
        {CHECK_QUESTIONS[of]} <strong>{checked.name}</strong>?{' '}
        {ANSWERS.map(({ verdict, key, words }) => (
          <button key={verdict} type="button" onClick={() => say(verdict)}>
            {words} <kbd>{key}</kbd>
          </button>
        ))}
        <span class="faint"> {counted(said.size, 'verdict')} given</span>
      </p>
      {fault === null ? null : <Fault error={fault} />}
      <Read sessionId={next.sessionId} shown={shown} />
    </div>
  );
}

/** The conversation, without anything that was found in it: that would decide for the reader. */
function Read({
  sessionId,
  shown,
}: {
  readonly sessionId: string;
  /** Holds the session while its transcript is shown. */
  readonly shown: { current: string };
}) {
  const { state } = useNavigation();
  const { value, error } = useAnswer(`checked ${sessionId}`, '', (signal) =>
    api.session(sessionId, { instanceId: state.instance, limit: SHOWN }, signal),
  );
  const isShown = value !== null;
  useLayoutEffect(() => {
    if (isShown) shown.current = sessionId;
    return () => {
      if (shown.current === sessionId) shown.current = '';
    };
  }, [isShown, sessionId]);
  if (value === null) return error === null ? <Loading /> : <Fault error={error} />;
  return (
    <>
      <ol class="transcript">
        {value.messages.map((message) => (
          <Turn key={message.position} message={message} />
        ))}
      </ol>
      <p class="faint">
        {value.pagination.next === null ? '' : `These are its first ${SHOWN} messages. `}
        <Go to={{ session: sessionId }}>Open the conversation</Go> to correct what was found in it.
      </p>
    </>
  );
}

function Turn({ message }: { readonly message: SessionResponse['messages'][number] }) {
  const { role, content, gone } = message;
  return (
    <li class={isOfUser(message) ? 'said user' : 'said'}>
      <p class="who">{role}</p>
      {content === null ? <p class="gone">{goneWords(gone, null)}</p> : <p class="content">{content}</p>}
    </li>
  );
}
