/**
 * Labels of people: made of a message and its like, changed and deleted. The list of decisions tells what they were
 * made of.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useState } from 'preact/hooks';
import {
  LEAST_LABEL_EXAMPLES,
  LONGEST_DESCRIPTION,
  LONGEST_EXAMPLE,
  LONGEST_NAME,
} from '../../../domain/curations.ts';
import { api } from './api.ts';
import { useCurating } from './curating.ts';
import type { Listed } from './decisions.tsx';
import { Dialog } from './dialog.tsx';
import { useAnswer, useNavigation } from './hooks.ts';

/** A label as it is now. */
interface Label {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly examples: readonly string[];
  readonly counterexamples: readonly string[];
  /** The decision that made it: without it the label is gone. */
  readonly madeBy: string;
}

const NEW: Label = { id: '', name: '', description: '', examples: [], counterexamples: [], madeBy: '' };

/** The labels that decisions tell of, by name. `decisions`: newest first. */
function labelsIn(decisions: readonly Listed[]): Label[] {
  const saved = decisions.filter(({ action, status }) => action === 'LABEL' && status !== 'REFUSED');
  return [...Map.groupBy(saved, ({ target }) => target.id)]
    .flatMap(([id, versions]) => {
      const [made, now] = [versions.at(-1)!, versions.find(({ status }) => status === 'APPLIED')];
      if (made.status !== 'APPLIED' || now === undefined) return [];
      const { name = '', description = '', examples = [], counterexamples = [] } = now.details;
      return [{ id, name, description, examples, counterexamples, madeBy: made.curationId }];
    })
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

/** A button that makes a label, or adds a message to one. `text`: what the user wrote. */
export function SaveLabel({
  text,
  words,
  isQuiet = false,
}: {
  readonly text?: string;
  readonly words: string;
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
      {isOpen ? <LabelDialog label={NEW} text={oneLine(text ?? '')} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

/** The name of a label, with buttons to change and delete it. `decisions`: those about it; null while loading. */
export function LabelName({
  name,
  decisions,
}: {
  readonly name: string;
  readonly decisions: readonly Listed[] | null;
}) {
  const { reason, decide } = useCurating();
  const [isOpen, setOpen] = useState(false);
  const [fault, setFault] = useState('');
  const [label] = labelsIn(decisions ?? []);
  return (
    <>
      <h1>{name}</h1>
      {label === undefined ? null : (
        <div class="curate" role="group" aria-label={`Change ${name}`}>
          <button type="button" disabled={reason !== ''} title={reason} onClick={() => setOpen(true)}>
            Change …
          </button>
          <button
            type="button"
            disabled={reason !== ''}
            title={reason}
            onClick={() => {
              setFault('');
              decide({ action: 'UNDO', curationId: label.madeBy }, `The label “${name}” is gone.`).catch(
                (error: Error) => setFault(error.message),
              );
            }}
          >
            Delete
          </button>
          {fault === '' ? null : (
            <span class="fault" role="alert">
              {fault}
            </span>
          )}
        </div>
      )}
      {isOpen && label !== undefined ? (
        <LabelDialog label={label} text="" onClose={() => setOpen(false)} />
      ) : null}
    </>
  );
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, LONGEST_EXAMPLE);
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

/** The fields of a label. `text`: a message to add; '' if there is none. */
function LabelDialog({
  label: given,
  text,
  onClose,
}: {
  readonly label: Label;
  readonly text: string;
  readonly onClose: () => void;
}) {
  const { saveLabel } = useCurating();
  const known = useLabels(given.id === '' && text !== '');
  const [id, setId] = useState(given.id);
  const [fields, setFields] = useState(() => fieldsOf(given, text));
  const set = (changes: Partial<typeof fields>): void => setFields({ ...fields, ...changes });
  const [examples, counterexamples] = [linesOf(fields.examples), linesOf(fields.counterexamples)];
  const missing = LEAST_LABEL_EXAMPLES - examples.length;
  const choose = (chosen: string): void => {
    setId(chosen);
    setFields(fieldsOf(known.find((label) => label.id === chosen) ?? NEW, text));
  };
  return (
    <Dialog
      title={id === '' ? 'A label of your own' : `Change the label “${fields.name}”`}
      action="Save label"
      isReady={fields.name.trim() !== '' && missing <= 0}
      onConfirm={() =>
        saveLabel({
          ...(id === '' ? {} : { labelId: id }),
          name: fields.name.trim(),
          ...(fields.description.trim() === '' ? {} : { description: fields.description.trim() }),
          examples,
          counterexamples,
        })
      }
      onClose={onClose}
    >
      <p class="faint">
        Requests like the examples have the label, earlier ones too. A conversation may have several labels;
        its topics stay. You can undo this.
      </p>
      {known.length === 0 ? null : (
        <label>
          Label
          <select value={id} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            <option value="">A new one</option>
            {known.map((label) => (
              <option key={label.id} value={label.id}>
                {label.name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        Name
        <input
          maxLength={LONGEST_NAME}
          value={fields.name}
          onInput={({ currentTarget }) => set({ name: currentTarget.value })}
        />
      </label>
      <label>
        Requests that have it, one per line
        <textarea
          rows={5}
          value={fields.examples}
          onInput={({ currentTarget }) => set({ examples: currentTarget.value })}
        />
      </label>
      <p class="faint" role="status">
        {missing > 0 ? `Write ${missing} more: three say better than one what is alike.` : ''}
      </p>
      <label>
        Requests that do not have it, though they are like them (optional)
        <textarea
          rows={3}
          value={fields.counterexamples}
          onInput={({ currentTarget }) => set({ counterexamples: currentTarget.value })}
        />
      </label>
      <label>
        What it marks (optional; only people read it)
        <input
          maxLength={LONGEST_DESCRIPTION}
          value={fields.description}
          onInput={({ currentTarget }) => set({ description: currentTarget.value })}
        />
      </label>
    </Dialog>
  );
}

function fieldsOf({ name, description, examples, counterexamples }: Label, text: string) {
  return {
    name,
    description,
    examples: [...examples.map(oneLine), ...(text === '' || examples.includes(text) ? [] : [text])].join(
      '\n',
    ),
    counterexamples: counterexamples.map(oneLine).join('\n'),
  };
}

function useLabels(isWanted: boolean): readonly Label[] {
  const { state } = useNavigation();
  const { edits } = useCurating();
  const { value } = useAnswer(`labels ${state.instance} ${isWanted}`, String(edits), async (signal) =>
    isWanted ? api.curations({ instanceId: state.instance, limit: 1000 }, signal) : { elements: [] },
  );
  return labelsIn(value?.elements ?? []);
}
