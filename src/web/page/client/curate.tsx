/**
 * Curation in place: rename, pin, merge, move and hide entities, and create topics.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { api, type CurationsResponse } from './api.ts';
import { useCurating } from './curating.ts';
import { Dialog, Picker, type Choosable } from './dialog.tsx';
import { namedOf } from './filters.ts';
import { nameFrom, formatCount } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { keptNameOf } from './kept-name.ts';
import type { EntityKind } from './state.ts';

/** Limit of the API, UTF-16 units. */
const MAX_NAME = 80;
const MAX_EXAMPLE = 500;

/** Entities that can be renamed, with the parameter of their id. */
const CURATED = { topic: 'topicId', cluster: 'topicClusterId', gap: 'gapId' } as const;
export type CuratedKind = keyof typeof CURATED;

export function isCurated(kind: EntityKind): kind is CuratedKind {
  return kind in CURATED;
}

interface Target {
  readonly kind: CuratedKind;
  readonly id: string;
  readonly name: string;
}

type Open = 'rename' | 'merge' | 'move' | 'hide' | null;

/** Shows an entity's name and the curations of it. `decisions`: those about it, newest first; null while loading. */
export function CuratedName({
  kind,
  id,
  name,
  decisions,
}: Target & { readonly decisions: readonly CurationsResponse['elements'][number][] | null }) {
  const { reason } = useCurating();
  const [open, setOpen] = useState<Open>(null);
  const close = (): void => setOpen(null);
  const target = { kind, id, name };
  const kept = decisions === null ? null : keptNameOf(decisions, id);
  const button = (which: Exclude<Open, null>, words: string) => (
    <button type="button" disabled={reason !== ''} onClick={() => setOpen(which)}>
      {words}
    </button>
  );
  return (
    <>
      {open === 'rename' ? <Rename {...target} onClose={close} /> : <h1>{name}</h1>}
      <div class="curate" role="group" aria-label={`Change ${name}`}>
        {button('rename', 'Rename')}
        {kept === null ? (
          <KeepName {...target} isReady={decisions !== null} />
        ) : (
          <span>
            Name is kept <Undo curationId={kept} />
          </span>
        )}
        {kind === 'topic' ? (
          <>
            {button('merge', 'Merge …')}
            {button('move', 'Move …')}
            {button('hide', 'Hide …')}
          </>
        ) : null}
      </div>
      {reason === '' ? null : <p class="faint">{reason}</p>}
      {open === 'merge' ? <Merge {...target} onClose={close} /> : null}
      {open === 'move' ? <Move {...target} onClose={close} /> : null}
      {open === 'hide' ? <Hide {...target} onClose={close} /> : null}
    </>
  );
}

function KeepName({ kind, id, name, isReady }: Target & { readonly isReady: boolean }) {
  const { reason, decide } = useCurating();
  const [state, setState] = useState({ isBusy: false, fault: '' });
  const keep = (): void => {
    setState({ isBusy: true, fault: '' });
    decide({ action: 'PIN', [CURATED[kind]]: id }, `“${name}” keeps its name.`).then(
      // Stays busy: once the decision is processed, this button is gone.
      () => undefined,
      (error: Error) => setState({ isBusy: false, fault: error.message }),
    );
  };
  return (
    <>
      <button
        type="button"
        disabled={reason !== '' || !isReady || state.isBusy}
        title="Keep this name, whatever is found later"
        onClick={keep}
      >
        Keep name
      </button>
      {state.fault === '' ? null : (
        <span class="fault" role="alert">
          {state.fault}
        </span>
      )}
    </>
  );
}

type Closable = Target & { readonly onClose: () => void };

/** Replaces the heading: Enter saves, Escape cancels. */
function Rename({ kind, id, name, onClose }: Closable) {
  const { decide } = useCurating();
  const [state, setState] = useState({ text: name, isBusy: false, fault: '' });
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const text = state.text.trim();
  const save = (event: Event): void => {
    event.preventDefault();
    if (text === '' || text === name) return onClose();
    setState({ ...state, isBusy: true, fault: '' });
    decide({ action: 'RENAME', [CURATED[kind]]: id, name: text }, `“${name}” is called “${text}” now.`).then(
      onClose,
      (error: Error) => setState({ text, isBusy: false, fault: error.message }),
    );
  };
  return (
    <form class="rename" onSubmit={save}>
      <input
        ref={field}
        aria-label="New name"
        maxLength={MAX_NAME}
        value={state.text}
        onInput={(event) => setState({ ...state, text: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          onClose();
        }}
      />
      <button type="submit" class="main" disabled={state.isBusy || text === ''}>
        Save
      </button>
      <button type="button" onClick={onClose}>
        Cancel
      </button>
      {state.fault === '' ? null : (
        <p class="fault" role="alert">
          {state.fault}
        </p>
      )}
    </form>
  );
}

/** Reads all topics, clusters or inferred signals of the whole history, largest first. */
export function useChoosable(
  groupBy: 'TOPIC' | 'TOPIC_CLUSTER' | 'CSAT_DSAT',
  without: string,
): readonly Choosable[] | null {
  const { state } = useNavigation();
  const { value } = useAnswer(`choosable ${state.instance} ${groupBy}`, '', (signal) =>
    api.query(
      {
        instanceId: state.instance,
        groupBy,
        // What end users give is no choice of others.
        ...(groupBy === 'CSAT_DSAT' ? { signalSource: 'INFERRED' } : {}),
        fields: 'sessions',
        'sort.field': 'sessions',
        limit: 10_000,
      },
      signal,
    ),
  );
  if (value === null) return null;
  return value.elements
    .map((row) => ({ ...namedOf(row), note: `${formatCount(row.fields.sessions)} all time` }))
    .filter(({ id }) => id !== without);
}

function Merge({ id, name, onClose }: Closable) {
  const { decide } = useCurating();
  const options = useChoosable('TOPIC', id);
  const [into, setInto] = useState('');
  const intoName = options?.find((option) => option.id === into)?.name ?? '';
  return (
    <Dialog
      title={`Merge “${name}” into another topic`}
      action="Merge"
      isReady={into !== ''}
      onConfirm={() =>
        decide({ action: 'MERGE', topicId: id, intoTopicId: into }, `“${name}” counts as “${intoName}” now.`)
      }
      onClose={onClose}
    >
      <p class="faint">All its requests, earlier ones too, count for the other topic. You can undo this.</p>
      <Picker label="topics" options={options} chosen={into} onChoice={setInto} />
    </Dialog>
  );
}

function Move({ id, name, onClose }: Closable) {
  const { decide } = useCurating();
  const options = useChoosable('TOPIC_CLUSTER', '');
  const [to, setTo] = useState('');
  const [made, setMade] = useState('');
  const newName = made.trim();
  const cluster = newName === '' ? options?.find((option) => option.id === to)?.name : newName;
  return (
    <Dialog
      title={`Move “${name}” to a cluster`}
      action="Move"
      isReady={to !== '' || newName !== ''}
      onConfirm={() =>
        decide(
          {
            action: 'MOVE',
            topicId: id,
            ...(newName === '' ? { topicClusterId: to } : { newClusterName: newName }),
          },
          `“${name}” is in “${cluster ?? ''}” now.`,
        )
      }
      onClose={onClose}
    >
      <Picker
        label="topic clusters"
        options={options}
        chosen={newName === '' ? to : ''}
        onChoice={(id) => {
          setTo(id);
          setMade('');
        }}
      />
      <label>
        Or a new cluster
        <input
          maxLength={MAX_NAME}
          placeholder="Name"
          value={made}
          onInput={(event) => setMade(event.currentTarget.value)}
        />
      </label>
    </Dialog>
  );
}

function Hide({ id, name, onClose }: Closable) {
  const { decide } = useCurating();
  return (
    <Dialog
      title={`Hide “${name}”`}
      action="Hide"
      isReady
      onConfirm={() => decide({ action: 'HIDE', topicId: id }, `“${name}” is hidden.`)}
      onClose={onClose}
    >
      <p>
        Its requests count as having no topic, and no list shows it. Its own page stays, and you can undo
        this.
      </p>
    </Dialog>
  );
}

/** A found topic that an own one takes over. */
interface FoundTopic {
  readonly id: string;
  readonly name: string;
}

/** A button that opens the dialog for a new topic; `examples`: its first requests. */
export function MakeTopic({
  examples = [],
  from,
  words,
  isQuiet = false,
}: {
  readonly examples?: readonly string[];
  readonly from?: FoundTopic;
  readonly words: string;
  /** Shows a plain button, for pages with many of them. */
  readonly isQuiet?: boolean;
}) {
  const { reason } = useCurating();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class={isQuiet ? 'quiet' : ''}
        disabled={reason !== ''}
        title={reason}
        onClick={() => setOpen(true)}
      >
        {words}
      </button>
      {isOpen ? <NewTopicDialog given={examples} from={from} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function NewTopicDialog({
  given,
  from,
  onClose,
}: {
  readonly given: readonly string[];
  readonly from: FoundTopic | undefined;
  readonly onClose: () => void;
}) {
  const { makeTopic } = useCurating();
  const [name, setName] = useState(from?.name ?? nameFrom(given[0] ?? ''));
  const [description, setDescription] = useState('');
  const [examples, setExamples] = useState(
    given.map((one) => one.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_EXAMPLE)).join('\n'),
  );
  const [fromBeginning, setFromBeginning] = useState(true);
  const lines = examples
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return (
    <Dialog
      title="A topic of your own"
      action="Make topic"
      isReady={name.trim() !== '' && lines.length > 0}
      onConfirm={() =>
        makeTopic({
          name: name.trim(),
          ...(description.trim() === '' ? {} : { description: description.trim() }),
          examples: lines,
          fromBeginning,
          ...(from === undefined ? {} : { fromTopicId: from.id }),
        })
      }
      onClose={onClose}
    >
      {from === undefined ? null : (
        <p class="faint">
          It takes over what was found as “{from.name}”, and claims what is like its examples. You can undo
          this.
        </p>
      )}
      <label>
        Name
        <input maxLength={MAX_NAME} value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <label>
        Requests as users write them, one per line
        <textarea rows={5} value={examples} onInput={(event) => setExamples(event.currentTarget.value)} />
      </label>
      <label>
        What it is about (optional; only people read it)
        <input
          maxLength={500}
          value={description}
          onInput={(event) => setDescription(event.currentTarget.value)}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={fromBeginning}
          onChange={(event) => setFromBeginning(event.currentTarget.checked)}
        />
        Claim earlier requests, too
      </label>
    </Dialog>
  );
}

/** Takes a curation back. */
export function Undo({ curationId }: { readonly curationId: string }) {
  const { decide, reason } = useCurating();
  const [fault, setFault] = useState('');
  return (
    <>
      <button
        type="button"
        class="quiet"
        disabled={reason !== ''}
        title={reason}
        onClick={() => {
          setFault('');
          decide({ action: 'UNDO', curationId }, 'Undone.').catch((error: Error) => setFault(error.message));
        }}
      >
        Undo
      </button>
      {fault === '' ? null : <span role="alert">{fault}</span>}
    </>
  );
}

/** Shows the last curation with a button to undo it. */
export function LastDecision() {
  const { last, forget, decide, reason } = useCurating();
  const [fault, setFault] = useState('');
  if (last === null) return null;
  const { words, curationId } = last;
  return (
    <p class="notice done" role="status">
      <span>{fault === '' ? words : fault}</span>
      {curationId === null ? null : (
        <button
          type="button"
          disabled={reason !== ''}
          onClick={() => {
            setFault('');
            decide({ action: 'UNDO', curationId }, 'Undone.').catch((error: Error) =>
              setFault(error.message),
            );
          }}
        >
          Undo
        </button>
      )}
      <button type="button" class="quiet" onClick={forget}>
        Close
      </button>
    </p>
  );
}
