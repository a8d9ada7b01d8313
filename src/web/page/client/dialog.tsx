/**
 * A modal dialog and a picker. The dialog holds the focus until it closes; Escape closes it.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiError } from './api.ts';
import { Fault } from './parts.tsx';

export function Dialog({
  title,
  action,
  isReady,
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string;
  /** Label of the confirm button. */
  readonly action: string;
  readonly isReady: boolean;
  /** If it throws, the dialog shows the error and stays open. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly fault: ApiError | null }>({
    isBusy: false,
    fault: null,
  });
  useEffect(() => {
    const { current } = element;
    const opener = document.activeElement;
    current?.addEventListener('close', onClose);
    current?.showModal();
    return () => {
      current?.removeEventListener('close', onClose);
      current?.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  const confirm = (event: Event): void => {
    event.preventDefault();
    setState({ isBusy: true, fault: null });
    onConfirm().then(onClose, (fault: ApiError) => setState({ isBusy: false, fault }));
  };
  return (
    <dialog ref={element} aria-labelledby="dialog-title">
      <form onSubmit={confirm}>
        <h2 id="dialog-title">{title}</h2>
        {children}
        <Fault error={state.fault} />
        <p class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={!isReady || state.isBusy}>
            {state.isBusy ? 'One moment …' : action}
          </button>
        </p>
      </form>
    </dialog>
  );
}

export interface Choosable {
  readonly id: string;
  readonly name: string;
  readonly note: string;
}

/** Limit of listed options; a search finds the others. */
const LISTED = 50;

/** Selects one of many options; a search finds them by part of their name. */
export function Picker({
  label,
  options,
  chosen,
  onChoice,
}: {
  readonly label: string;
  /** Null while loading. */
  readonly options: readonly Choosable[] | null;
  readonly chosen: string;
  readonly onChoice: (id: string) => void;
}) {
  const [text, setText] = useState('');
  if (options === null) return <p class="faint">Loading …</p>;
  const wanted = text.trim().toLowerCase();
  const found = options.filter(({ name }) => name.toLowerCase().includes(wanted));
  return (
    <div class="picker">
      <input
        type="search"
        aria-label={`Search ${label}`}
        placeholder="Search"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <fieldset>
        <legend class="hidden">{label}</legend>
        {found.slice(0, LISTED).map(({ id, name, note }) => (
          <label key={id}>
            <input type="radio" name="picked" checked={id === chosen} onChange={() => onChoice(id)} />
            <span>{name}</span>
            <span class="faint">{note}</span>
          </label>
        ))}
      </fieldset>
      {found.length === 0 ? <p class="faint">Nothing has this name.</p> : null}
      {found.length <= LISTED ? null : <p class="faint">{found.length - LISTED} more: search for them.</p>}
    </div>
  );
}
