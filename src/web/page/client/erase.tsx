/** Erasing for good: the button and what it asks before, how far it is, and all erasures of the project. */
import { useContext, useEffect, useState } from 'preact/hooks';
import { api, type ErasableKind, type Instance } from './api.ts';
import { Dialog } from './dialog.tsx';
import { KIND_WORDS, noticeWords, progressWords } from './erase-words.ts';
import { ErasingContext, LOOK_MS, type Erasing } from './erasing.ts';
import { counted, shownInstant } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { Empty, Fault, Go, Section } from './parts.tsx';
import type { PageState } from './state.ts';

/** As the page shows it. */
export interface Erasable {
  /** Single messages are erased by the API and by the command alone. */
  readonly kind: ErasableKind;
  /** Of the conversation, the user or the instance. */
  readonly id: string;
  readonly name: string;
}

/** Opens the question whether to erase; absent where the key may not. `after`: where the page goes then. */
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

/** UTF-16 units, as the API takes. */
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
      {error === null ? null : <Fault error={error} />}
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

/** What goes, counted over all time. */
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

/** How far the erasure is that was asked for last. */
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

/** Everything of the instance can be erased here, and all erasures of the project are listed. */
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
/** As many as the API answers at once. */
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
  if (value === null) return error === null ? null : <Fault error={error} />;
  if (value.elements.length === 0) return <Empty>Nothing was erased yet.</Empty>;
  return (
    <>
      <table class="decisions">
        <thead>
          <tr>
            <th scope="col">Erased</th>
            <th scope="col">Asked for</th>
            <th scope="col" class="wide">
              Key
            </th>
            <th scope="col">State</th>
          </tr>
        </thead>
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
              <td class="faint">{shownInstant(erasure.requestedAt)}</td>
              <td class="faint wide">{erasure.requestedBy}</td>
              <td>
                {progressWords(erasure)}
                {erasure.doneAt === null ? null : <p class="faint">{shownInstant(erasure.doneAt)}</p>}
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
