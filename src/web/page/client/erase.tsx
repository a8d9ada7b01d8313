/**
 * Erasing: the button and its dialog, the progress of the last erasure, and the list of the project's erasures.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useContext, useEffect, useState } from 'preact/hooks';
import { api, type ErasableKind, type Instance } from './api.ts';
import { Dialog } from './dialog.tsx';
import { KIND_WORDS, noticeWords, progressWords } from './erase-words.ts';
import { ErasingContext, LOOK_MS, type Erasing } from './erasing.ts';
import { counted, formatInstant } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { Empty, Fault, Go, Head, Section } from './parts.tsx';
import type { PageState } from './state.ts';

/** A subject of an erasure, with its name on the page. */
export interface Erasable {
  /** Single messages can be erased by the API and the command only. */
  readonly kind: ErasableKind;
  /** Id of the conversation, user or instance. */
  readonly id: string;
  readonly name: string;
}

/** A button that opens the dialog; absent unless the key may erase. `after`: the page to show then. */
export function Erase({
  what,
  after = {},
}: {
  readonly what: Erasable;
  readonly after?: Partial<PageState>;
}) {
  const erasing = useContext(ErasingContext);
  const [isOpen, setOpen] = useState(false);
  if (erasing?.reason !== '') return null;
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {what.kind === 'INSTANCE' ? 'Erase everything …' : 'Erase …'}
      </button>
      {isOpen ? (
        <EraseDialog what={what} erasing={erasing} after={after} onClose={() => setOpen(false)} />
      ) : null}
    </>
  );
}

const TITLES: Readonly<Record<ErasableKind, string>> = {
  SESSION: 'Erase this conversation',
  END_USER: 'Erase this user',
  INSTANCE: 'Erase everything in this instance',
};

/** Limit of the API, UTF-16 units. */
const MAX_REASON = 500;

function EraseDialog({
  what,
  erasing,
  after,
  onClose,
}: {
  readonly what: Erasable;
  readonly erasing: Erasing;
  readonly after: Partial<PageState>;
  readonly onClose: () => void;
}) {
  const { state, go } = useNavigation();
  const [reason, setReason] = useState('');
  const [typed, setTyped] = useState('');
  const { kind, id, name } = what;
  const { value, error } = useAnswer(`erasable ${kind} ${id}`, '', (signal) =>
    api.erasable(state.instance, kind, id, signal),
  );
  const isMeant = kind !== 'INSTANCE' || typed.trim() === name.trim();
  return (
    <Dialog
      title={TITLES[kind]}
      action="Erase"
      isReady={value !== null && isMeant}
      onConfirm={async () => {
        if (value === null) return;
        await erasing.erase(value.target, reason.trim());
        go(after);
      }}
      onClose={onClose}
    >
      <Fault error={error} />
      {value === null ? null : (
        <p>
          <What {...what} messages={value.messages} sessions={value.sessions} />
        </p>
      )}
      <p>
        <strong>This cannot be undone.</strong> Afterwards all numbers are as if it had never been sent. What
        is sent from now on stays.
      </p>
      <p>Backups and exported files from before still hold it.</p>
      <label>
        Reason (optional)
        <input
          maxLength={MAX_REASON}
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
        <span class="faint">
          It is kept for ever, so write the number of a request, for example, and nobody’s name.
        </span>
      </label>
      {kind === 'INSTANCE' ? (
        <label>
          To confirm, type the name of the instance: {name}
          <input value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
      ) : null}
    </Dialog>
  );
}

/** Words the subject and its counts over the whole history. */
function What({
  kind,
  name,
  messages,
  sessions,
}: Erasable & { readonly messages: number; readonly sessions: number }) {
  const count = counted(messages, 'message');
  const goes = messages === 1 ? 'goes' : 'go';
  switch (kind) {
    case 'SESSION':
      return (
        <>
          “{name}” goes with its {count} and all that was found in them.
        </>
      );
    case 'END_USER':
      return (
        <>
          All that “{name}” wrote goes, with the replies to it: {count} in {counted(sessions, 'conversation')}
          . Where others took part, their part of the conversation stays.
        </>
      );
    case 'INSTANCE':
      return (
        <>
          {count} in {counted(sessions, 'conversation')} {goes}, and with them all topics, gaps and users that
          were found. The instance “{name}” itself stays.
        </>
      );
    default:
      return kind satisfies never;
  }
}

/** Shows the progress of the last erasure. */
export function LastErasure() {
  const erasing = useContext(ErasingContext);
  if (erasing?.last == null) return null;
  const { last, forget } = erasing;
  return (
    <p class="notice done" role="status">
      <span>
        {noticeWords(last)} <Go to={{ view: 'connect', id: '', session: '', filters: {} }}>All erasures</Go>
      </span>
      <button type="button" class="quiet" onClick={forget}>
        Close
      </button>
    </p>
  );
}

/** Erases the whole instance, and lists the project's erasures. */
export function Erasures({ instances }: { readonly instances: readonly Instance[] }) {
  const erasing = useContext(ErasingContext);
  const { state } = useNavigation();
  if (erasing === null || erasing.reason === null) return null;
  const name = nameOf(instances, state.instance);
  return (
    <Section title="Erasures" action={<Erase what={{ kind: 'INSTANCE', id: state.instance, name }} />}>
      <p>
        An erasure takes out what was sent of a conversation, a user or a whole instance, for good. The pages
        of a conversation and of a user have a button for it.
      </p>
      {erasing.reason === '' ? (
        <ErasureList instances={instances} version={`${erasing.edits}`} />
      ) : (
        <p class="faint">{erasing.reason}</p>
      )}
    </Section>
  );
}

function nameOf(instances: readonly Instance[], id: string): string {
  return instances.find((instance) => instance.id === id)?.name ?? id;
}

const PAGE = 50;
/** Limit of the API. */
const MOST = 1000;

function ErasureList({
  instances,
  version,
}: {
  readonly instances: readonly Instance[];
  readonly version: string;
}) {
  const [limit, setLimit] = useState(PAGE);
  const [looks, setLooks] = useState(0);
  const { value, error } = useAnswer('erasures', `${version} ${limit} ${looks}`, (signal) =>
    api.erasures(limit, signal),
  );
  useEffect(() => {
    if (value === null || value.elements.every(({ state }) => state === 'DONE')) return;
    const timer = setTimeout(() => setLooks(looks + 1), LOOK_MS);
    return () => clearTimeout(timer);
  }, [value]);
  if (value === null) return <Fault error={error} />;
  if (value.elements.length === 0) return <Empty>Nothing was erased yet.</Empty>;
  return (
    <>
      <table class="decisions">
        <Head columns={[['Erased'], ['Asked for'], ['Key', 'wide'], ['State']]} />
        <tbody>
          {value.elements.map((erasure) => (
            <tr key={erasure.id}>
              <td>
                {KIND_WORDS[erasure.kind]}
                <p class="faint">
                  {nameOf(instances, erasure.instanceId)}
                  {erasure.reason === null ? '' : ` · ${erasure.reason}`}
                </p>
              </td>
              <td class="faint">{formatInstant(erasure.requestedAt)}</td>
              <td class="faint wide">{erasure.requestedBy}</td>
              <td>
                {progressWords(erasure)}
                {erasure.doneAt === null ? null : <p class="faint">{formatInstant(erasure.doneAt)}</p>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {value.pagination.next === null || limit >= MOST ? null : (
        <button type="button" onClick={() => setLimit(Math.min(limit + PAGE, MOST))}>
          Show older ones
        </button>
      )}
    </>
  );
}
