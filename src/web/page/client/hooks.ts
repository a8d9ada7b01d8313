/**
 * Hooks for API answers, the URL state, keys and the window.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { api, ApiError, type Key } from './api.ts';
import { awaitAnswer, holdHeight } from './held-height.ts';
import { changed, readState, writeState, type PageState } from './state.ts';

export interface Answer<Value> {
  readonly value: Value | null;
  readonly error: ApiError | null;
  /** A newer answer is loading. */
  readonly isLoading: boolean;
}

/** Answers that a later request may not get: out of reach, too many requests, away for a moment. */
const PASSING: readonly number[] = [0, 429, 503];
/** Pause before the first of such looks; each is twice as long as the one before, up to the longest. */
const AGAIN_MS = 2000;
const LONGEST_AGAIN_MS = 60_000;

/**
 * Calls `ask` again when `name` or `version` changes, and after a fault that passes. A new `version` keeps the old answer
 * until the new one arrives; a new `name` does not.
 */
export function useAnswer<Value>(
  name: string,
  version: string,
  ask: (signal: AbortSignal) => Promise<Value>,
): Answer<Value> {
  const [found, setFound] = useState<{ readonly name: string; readonly answer: Answer<Value> }>({
    name: '',
    answer: { value: null, error: null, isLoading: true },
  });
  useEffect(() => {
    const stop = new AbortController();
    const arrived = awaitAnswer();
    let timer: ReturnType<typeof setTimeout> | undefined;
    setFound((last) => ({
      name,
      answer: { value: last.name === name ? last.answer.value : null, error: null, isLoading: true },
    }));
    let pause = AGAIN_MS;
    const again = (): void => {
      // A hidden tab does not ask; each pause looks whether it is seen.
      timer = setTimeout(() => (document.hidden ? again() : look()), pause);
      pause = Math.min(2 * pause, LONGEST_AGAIN_MS);
    };
    const look = (): void =>
      void ask(stop.signal)
        .finally(arrived)
        .then(
          (value) => {
            if (!stop.signal.aborted) setFound({ name, answer: { value, error: null, isLoading: false } });
          },
          (error: unknown) => {
            if (stop.signal.aborted) return;
            const known = asApiError(error);
            setFound((last) => ({
              name,
              answer: { value: last.answer.value, error: known, isLoading: false },
            }));
            if (PASSING.includes(known.status)) again();
          },
        );
    look();
    return () => {
      stop.abort();
      clearTimeout(timer);
      arrived();
    };
    // `ask` is a new function on each render; `name` identifies its request.
  }, [name, version]);
  return found.name === name ? found.answer : { value: null, error: null, isLoading: true };
}

export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, '', 'The page failed.');
}

/**
 * Calls `look` at once and `everyMs` after each call has ended, while the tab is visible; anew when `input` changes.
 * `signal` aborts when its result is no longer wanted.
 */
export function usePolling(
  everyMs: number,
  input: string,
  look: (signal: AbortSignal) => Promise<void>,
): void {
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = async (): Promise<void> => {
      if (!document.hidden) await look(stop.signal);
      if (!stop.signal.aborted) timer = setTimeout(() => void again(), everyMs);
    };
    void again();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [input]);
}

/** Sets the title of the tab: '' until it is known; null if another component sets it. */
export function useTitle(title: string | null): void {
  useEffect(() => {
    if (title === null) return;
    document.title = title === '' ? 'Undertone' : `${title} · Undertone`;
  }, [title]);
}

export interface Navigation {
  readonly state: PageState;
  /** True for a reader with a link: links lead nowhere, and nothing can be changed. */
  readonly isShared: boolean;
  /** Shows another state under its own URL; `replace`: replaces the current history entry. */
  readonly go: (changes: Partial<PageState>, how?: 'replace') => void;
  /** Returns the URL of another state. */
  readonly hrefOf: (changes: Partial<PageState>) => string;
}

export const NavigationContext = createContext<Navigation | null>(null);

export function useNavigation(): Navigation {
  const navigation = useContext(NavigationContext);
  if (navigation === null) throw new Error('there is no navigation');
  return navigation;
}

/** Keeps the page's state in its URL, so that back, forward, reload and shared URLs work. */
export function useUrlState(): Navigation {
  const [state, setState] = useState(() => readState(location.search));
  useEffect(() => {
    const read = (): void => setState(readState(location.search));
    addEventListener('popstate', read);
    return () => removeEventListener('popstate', read);
  }, []);
  const hrefOf = (changes: Partial<PageState>): string => `/${writeState(changed(state, changes))}`;
  return {
    state,
    isShared: false,
    hrefOf,
    go: (changes, how) => {
      holdHeight();
      if (how === 'replace') history.replaceState(null, '', hrefOf(changes));
      else history.pushState(null, '', hrefOf(changes));
      setState(changed(state, changes));
    },
  };
}

/** Returns what the key may do; null until known. */
export function useKey(): Key | null {
  const [key, setKey] = useState<Key | null>(null);
  useEffect(() => {
    api.key().then(setKey, () => undefined);
  }, []);
  return key;
}

/** Returns true on a window as narrow as a phone. */
export function useNarrow(): boolean {
  const query = matchMedia('(max-width: 600px)');
  const [narrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const changed = (): void => setNarrow(query.matches);
    query.addEventListener('change', changed);
    return () => query.removeEventListener('change', changed);
  }, []);
  return narrow;
}

type KeyListener = (key: string, isRepeated: boolean) => boolean | void;

/** The newest last. */
const keyListeners: { current: KeyListener }[] = [];

function keyPressed({ target, key, repeat, ctrlKey, altKey, metaKey }: KeyboardEvent): void {
  const isField = target instanceof HTMLElement && target.closest('input, select, textarea') !== null;
  if (isField && key !== 'Escape') return;
  // An open dialog handles its own keys.
  if (document.querySelector('dialog[open]') !== null) return;
  if (ctrlKey || altKey || metaKey) return;
  keyListeners.findLast(({ current }) => current(key, repeat) === true);
}

/**
 * Calls `listener` with each key pressed outside of a field without Ctrl, Alt or Meta; with Escape also in a field. What
 * appeared last on the page gets a key first; once a listener returns true, no other one gets it.
 */
export function useKeys(listener: KeyListener): void {
  const own = useRef(listener);
  own.current = listener;
  useEffect(() => {
    if (keyListeners.push(own) === 1) addEventListener('keydown', keyPressed);
    return () => {
      keyListeners.splice(keyListeners.indexOf(own), 1);
      if (keyListeners.length === 0) removeEventListener('keydown', keyPressed);
    };
  }, []);
}

/**
 * Returns how many of `all` parts to render: one more after each frame, once `isReady`. Rendering all at once would
 * block clicks on a slow machine.
 */
export function useParts(all: number, isReady: boolean): number {
  const [rendered, setRendered] = useState(0);
  useEffect(() => {
    if (!isReady || rendered >= all) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const frame = requestAnimationFrame(() => (timer = setTimeout(() => setRendered(rendered + 1))));
    // A background tab gets no animation frames.
    const late = setTimeout(() => setRendered(rendered + 1), LATE_MS);
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      clearTimeout(late);
    };
  }, [all, isReady, rendered]);
  return rendered;
}
const LATE_MS = 250;
