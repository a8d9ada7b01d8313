/** How the page's parts get what they show. */
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { api, ApiError } from './api.ts';
import { changed, readState, writeState, type PageState } from './state.ts';

export interface Answer<Value> {
  readonly value: Value | null;
  readonly error: ApiError | null;
  /** A newer one is on its way. */
  readonly isLoading: boolean;
}

/**
 * What `ask` answers, asked again when `name` changes, and when `version` does: then the old answer stays until the
 * new one is there.
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
    setFound((last) => ({
      name,
      answer: { value: last.name === name ? last.answer.value : null, error: null, isLoading: true },
    }));
    ask(stop.signal).then(
      (value) => {
        if (!stop.signal.aborted) setFound({ name, answer: { value, error: null, isLoading: false } });
      },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        const known = error instanceof ApiError ? error : new ApiError(0, '', 'The page failed.');
        setFound((last) => ({ name, answer: { value: last.answer.value, error: known, isLoading: false } }));
      },
    );
    return () => stop.abort();
    // `ask` is made anew with each rendering; what it asks is in `name`.
  }, [name, version]);
  return found.name === name ? found.answer : { value: null, error: null, isLoading: true };
}

/** What the tab and the history are called: '' until it is known; null: another part of the page says it. */
export function useTitle(title: string | null): void {
  useEffect(() => {
    if (title === null) return;
    document.title = title === '' ? 'Undertone' : `${title} · Undertone`;
  }, [title]);
}

export interface Navigation {
  readonly state: PageState;
  /** Somebody looks through a link: nothing leads anywhere, and nothing can be done. */
  readonly isShared: boolean;
  /** Shows another state, under its own URL; `replace`: in place of this one in the history. */
  readonly go: (changes: Partial<PageState>, how?: 'replace') => void;
  /** The URL of another state. */
  readonly hrefOf: (changes: Partial<PageState>) => string;
}

export const NavigationContext = createContext<Navigation | null>(null);

export function useNavigation(): Navigation {
  const navigation = useContext(NavigationContext);
  if (navigation === null) throw new Error('there is no navigation');
  return navigation;
}

/** The state of the page in its URL: back and forward, reload and a link that somebody sends all work. */
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
      if (how === 'replace') history.replaceState(null, '', hrefOf(changes));
      else history.pushState(null, '', hrefOf(changes));
      setState(changed(state, changes));
    },
  };
}

/** What the key may do; null: it is not known. */
export function useScopes(): readonly string[] | null {
  const [scopes, setScopes] = useState<readonly string[] | null>(null);
  useEffect(() => {
    api.key().then(
      (key) => setScopes(key.scopes),
      () => undefined,
    );
  }, []);
  return scopes;
}

/** Whether the page is as narrow as a phone. */
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

/** Calls `listener` with each key that is pressed outside of a field, without Ctrl, Alt or Meta. */
export function useKeys(listener: (key: string) => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const { target } = event;
      const isField = target instanceof HTMLElement && target.closest('input, select, textarea') !== null;
      if (isField && event.key !== 'Escape') return;
      // A dialog has the keys to itself.
      if (document.querySelector('dialog[open]') !== null) return;
      if (!event.ctrlKey && !event.altKey && !event.metaKey) listener(event.key);
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  });
}

/**
 * How many of `all` parts are shown: one more after each time that the browser has drawn, from when `isReady`. What is
 * shown at once keeps a slow machine from answering clicks.
 */
export function useParts(all: number, isReady: boolean): number {
  const [shown, setShown] = useState(0);
  useEffect(() => {
    if (!isReady || shown >= all) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const frame = requestAnimationFrame(() => (timer = setTimeout(() => setShown(shown + 1))));
    // A tab in the background draws nothing.
    const late = setTimeout(() => setShown(shown + 1), LATE_MS);
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      clearTimeout(late);
    };
  }, [all, isReady, shown]);
  return shown;
}
const LATE_MS = 250;
