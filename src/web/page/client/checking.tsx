/**
 * Reads one conversation after the other and takes a verdict on each by a key. Keeps the invariant that a verdict is on
 * the conversation that is shown, and that none is shown again unless its verdict is taken back.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CHECK_QUESTIONS } from '../../../domain/check-questions.ts';
import type { Checked, Verdict } from '../../../domain/checks.ts';
import { api, type ApiError, type ChecksResponse, type SessionResponse, type Written } from './api.ts';
import { beginningOf, LEAD_WORDS, leadOf, type LeadTurn } from './check-lead.ts';
import { counted } from './format.ts';
import { useKeys, useNavigation } from './hooks.ts';
import { Fault, Loading } from './parts.tsx';
import { goneWords, isOfUser } from './transcript-words.ts';

const ANSWERS = [
  { verdict: 'YES', key: 'y', words: 'Yes' },
  { verdict: 'NO', key: 'n', words: 'No' },
  { verdict: 'UNSURE', key: '?', words: 'Cannot tell' },
] as const satisfies readonly { verdict: Verdict; key: string; words: string }[];
const TAKE_BACK = ['u', 'Backspace'];
const WHOLE = 'w';

/** As many checks say about a number what a few hundred would; more make its interval narrower. */
export const ENOUGH = 50;
/** Messages of a conversation that are shown. */
const SHOWN = 200;
/** Conversations that are read ahead. */
const AHEAD = 3;
/** A verdict on a conversation that has been shown for less was meant for the one before. */
const LEAST_SHOWN_MS = 150;

/** Returns the number of conversations on which a verdict says yes or no. */
export function checksOf({ found, notFound }: ChecksResponse): number {
  return found.yes + found.no + notFound.yes + notFound.no;
}

/** Returns the number of conversations with a verdict that counts or says that it could not be told. */
function readOf(found: ChecksResponse): number {
  return checksOf(found) + found.found.unsure + found.notFound.unsure;
}

interface Said {
  readonly sessionId: string;
  readonly written: Promise<Written>;
}

/** `about`: what counts as it; '' if nothing says so. */
export function Checking({
  found,
  about,
  onSaid,
  onStop,
}: {
  readonly found: ChecksResponse;
  readonly about: string;
  /** Called when the numbers hold all verdicts. */
  readonly onSaid: () => void;
  readonly onStop: () => void;
}) {
  const { of, name } = found.checked;
  const reading = useReading(found, onSaid);
  const { next, transcript, isDone, fault } = reading;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), [next]);
  const shown = useRef({ sessionId: '', since: 0 });
  const isShown = transcript !== undefined;
  useLayoutEffect(() => {
    shown.current = { sessionId: isShown ? (next ?? '') : '', since: performance.now() };
  }, [next, isShown]);
  const say = (verdict: Verdict): void => {
    const { sessionId, since } = shown.current;
    if (sessionId === '' || performance.now() - since < LEAST_SHOWN_MS) return;
    shown.current = { sessionId: '', since: 0 };
    reading.say(sessionId, verdict);
  };
  /** The conversation that is shown as a whole; '': none. */
  const [whole, setWhole] = useState('');
  const isWhole = whole !== '' && whole === next;
  const showWhole = (): void => setWhole(isWhole ? '' : (next ?? ''));
  useKeys((key, isRepeated) => {
    if (isRepeated) return undefined;
    const answer = ANSWERS.find((one) => one.key === key.toLowerCase());
    if (key === 'Escape') onStop();
    else if (key.toLowerCase() === WHOLE) showWhole();
    else if (answer === undefined && !TAKE_BACK.includes(key)) return undefined;
    // What cannot be seen cannot be judged.
    else if (isOutOfView(place.current)) place.current?.scrollIntoView();
    else if (answer !== undefined) say(answer.verdict);
    else reading.takeBack();
    return true;
  });
  const [before] = useState({ read: readOf(found), uncounted: found.uncounted });
  const read = before.read + reading.said;
  const uncounted = read - readOf(found) - (found.uncounted - before.uncounted);
  const enough = Math.min(ENOUGH, found.found.sessions + found.notFound.sessions);
  return (
    <div class="checking" tabIndex={-1} ref={place}>
      <p>
        {CHECK_QUESTIONS[of]} <strong>{name}</strong>?
        {about === '' ? null : <span class="faint"> {about}</span>}
        <span class="faint">
          {' '}
          {LEAD_WORDS[of]} Whoever cannot tell from that reads the whole conversation.
        </span>
      </p>
      <p>
        {ANSWERS.map(({ verdict, key, words }) => (
          <button key={verdict} type="button" disabled={next === undefined} onClick={() => say(verdict)}>
            {words} <kbd>{key}</kbd>
          </button>
        ))}
        <button type="button" class="quiet" disabled={!isShown} aria-pressed={isWhole} onClick={showWhole}>
          Whole conversation <kbd>{WHOLE}</kbd>
        </button>
        <button type="button" class="quiet" disabled={reading.said === 0} onClick={reading.takeBack}>
          Take back <kbd>u</kbd>
        </button>
        <button type="button" class="quiet" onClick={onStop}>
          Stop <kbd>Esc</kbd>
        </button>
        <span class="faint">
          {' '}
          {read < enough ? `${read} of ${enough} read` : `${read} read`}
          {uncounted > 0 ? `, ${uncounted} of them not counted yet` : ''}
        </span>
      </p>
      {read >= enough && !isDone ? (
        <p class="notice">
          {counted(read, 'conversation')} are enough for most uses. More of them make the range narrower.
        </p>
      ) : null}
      {fault === null ? null : <Fault error={fault} />}
      {next === undefined ? (
        <p class="faint">
          {isDone ? 'There is no other conversation to read in this period.' : 'One moment …'}
        </p>
      ) : reading.hasFailed ? (
        <button type="button" onClick={reading.readAgain}>
          Try again
        </button>
      ) : transcript === undefined ? (
        <Loading />
      ) : (
        <Conversation key={next} of={of} found={transcript} isWhole={isWhole} />
      )}
    </div>
  );
}

function isOutOfView(element: HTMLElement | null): boolean {
  const { top, bottom } = element?.getBoundingClientRect() ?? { top: 0, bottom: 1 };
  return bottom <= 0 || top >= innerHeight;
}

/** Reads the drawn conversations ahead, and sends verdicts. */
function useReading(found: ChecksResponse, onSaid: () => void) {
  const { state } = useNavigation();
  const { instance } = state;
  const { of, id } = found.checked;
  const [said, setSaid] = useState<readonly Said[]>([]);
  const [fault, setFault] = useState<ApiError | null>(null);
  const [transcripts, setTranscripts] = useState<ReadonlyMap<string, SessionResponse>>(new Map());
  /** All that were drawn, in their order, so that one whose verdict is taken back comes next. */
  const drawn = useRef<string[]>([]);
  for (const { sessionId } of found.sample)
    if (!drawn.current.includes(sessionId)) drawn.current.push(sessionId);
  const gone = useRef(new Set<string>());
  const [failed, setFailed] = useState<readonly string[]>([]);
  const open = drawn.current.filter(
    (one) => !gone.current.has(one) && said.every(({ sessionId }) => sessionId !== one),
  );
  const [next] = open;

  const asked = useRef(new Set<string>());
  const ahead = open.slice(0, AHEAD).filter((sessionId) => !asked.current.has(sessionId));
  useEffect(() => {
    for (const sessionId of ahead) {
      asked.current.add(sessionId);
      api.session(sessionId, { instanceId: instance, limit: SHOWN }).then(
        (read) => setTranscripts((all) => new Map([...all, [sessionId, read]])),
        (thrown: ApiError) => {
          setFault(thrown);
          // One that is gone is passed over; another is asked for again when somebody wants it.
          if (thrown.status === 404) gone.current.add(sessionId);
          setFailed((all) => [...all, sessionId]);
        },
      );
    }
  }, [ahead.join()]);
  const readAgain = (): void => {
    setFault(null);
    for (const sessionId of failed) asked.current.delete(sessionId);
    setFailed([]);
  };

  /** Numbers are read anew once they hold what was sent, one request at a time. */
  const reload = useRef({ isRunning: false, position: 0n });
  const whenCounted = async ({ position }: Written): Promise<void> => {
    if (BigInt(position) > reload.current.position) reload.current.position = BigInt(position);
    if (reload.current.isRunning) return;
    reload.current.isRunning = true;
    let settled = 0n;
    try {
      while (settled < reload.current.position) {
        const wanted = reload.current.position;
        if (await api.settle(instance, String(wanted))) settled = wanted;
      }
    } finally {
      reload.current.isRunning = false;
    }
    onSaid();
  };
  const say = (sessionId: string, verdict: Verdict): void => {
    setFault(null);
    const written = api.check(instance, { of, id, sessionId, verdict });
    setSaid((all) => [...all, { sessionId, written }]);
    written.then(
      (stored) => whenCounted(stored).catch(setFault),
      // Nothing is stored, so it is asked again.
      (thrown: ApiError) => {
        setFault(thrown);
        setSaid((all) => all.filter((one) => one.written !== written));
      },
    );
  };
  const takeBack = (): void => {
    const last = said.at(-1);
    if (last === undefined) return;
    setFault(null);
    setSaid((all) => all.filter((one) => one !== last));
    const undo = async (): Promise<void> => {
      const { curationId, position } = await last.written;
      // Only what is known can be undone.
      while (!(await api.settle(instance, position)));
      await whenCounted(await api.curate(instance, { action: 'UNDO', curationId }));
    };
    undo().catch((thrown: ApiError) => {
      setFault(thrown);
      setSaid((all) => [...all, last]);
    });
  };
  return {
    next,
    transcript: next === undefined ? undefined : transcripts.get(next),
    /** Number of verdicts given here. */
    said: said.length,
    /** Verdicts that are counted are drawn no more, so an empty draw follows the last one. */
    isDone: found.sample.length === 0,
    fault,
    hasFailed: next !== undefined && failed.includes(next),
    readAgain,
    say,
    takeBack,
  };
}

/** The conversation, without anything that was found in it: that would decide for the reader. */
function Conversation({
  of,
  found: { session, messages, pagination },
  isWhole,
}: {
  readonly of: Checked;
  readonly found: SessionResponse;
  /** False: only what decides is shown. */
  readonly isWhole: boolean;
}) {
  const { hrefOf } = useNavigation();
  const lead = leadOf(of, messages);
  const folded = messages.length - lead.length;
  return (
    <>
      <ol class={isWhole ? 'transcript' : 'transcript in-short'}>
        {isWhole
          ? messages.map((message) => <Turn key={message.position} message={message} />)
          : lead.map((turn) => <ShortTurn key={turn.message.position} turn={turn} />)}
      </ol>
      <p class="faint">
        {isWhole || folded === 0 ? '' : `${counted(folded, 'more message')} (w). `}
        {pagination.next === null ? '' : `These are its first ${SHOWN} messages. `}
        <a href={hrefOf({ session: session.id })} target="_blank" rel="noreferrer">
          Open it in a new tab
        </a>
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

/** The beginning of a turn, in a line or two. */
function ShortTurn({ turn: { message, most } }: { readonly turn: LeadTurn }) {
  const { role, content, gone } = message;
  const [isAll, setAll] = useState(false);
  const text = content ?? goneWords(gone, null);
  const shown = isAll ? text : beginningOf(text, most);
  return (
    <li class={isOfUser(message) ? 'said user' : 'said'}>
      <span class="hidden">{role}: </span>
      <span class={content === null ? 'gone' : 'content'}>{shown}</span>
      {shown === text ? null : (
        <button
          type="button"
          class="quiet"
          aria-label="Show all of this message"
          onClick={() => setAll(true)}
        >
          …
        </button>
      )}
    </li>
  );
}
