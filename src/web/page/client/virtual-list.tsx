/**
 * A list of any length that scrolls with the page. The document holds only the rows in sight and a few beside them.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { api, type ApiError, type Row, type Parameters } from './api.ts';
import { formatCount } from './format.ts';
import { Empty, Fault } from './parts.tsx';

/** Rows of one request. */
const PAGE = 100;
/** Rows above and below those in sight, so that Tab reaches them and scrolling shows them at once. */
const BESIDE = 10;
/** Rows in the document before the first measurement. */
const FIRST = 20;
/** Limit of rows: browsers cut pages at about 30 million pixels. */
const MOST = 100_000;

interface Rows {
  readonly rows: ReadonlyMap<number, Row>;
  /** Null until known. */
  readonly total: number | null;
  readonly error: ApiError | null;
  /** Loads the missing rows of a window. */
  readonly want: (from: number, to: number) => void;
}

/**
 * Scroll positions of lists by URL, restored on return: pixels from the list's upper edge, because what is above it may
 * not have its height yet.
 */
const places = new Map<string, number>();

/**
 * Loads the rows of a query as they come into sight. Other parameters start over; a new `version` reloads the rows in
 * sight and shows the old ones until then.
 */
export function useRows(parameters: Parameters, version: string): Rows {
  const name = JSON.stringify(parameters);
  const [found, setFound] = useState<Omit<Rows, 'want'> & { readonly name: string }>(() => nothing(name));
  const asked = useRef({ pages: new Set<number>(), stop: new AbortController(), last: 0 });
  const load = (page: number): void => {
    const { pages, stop } = asked.current;
    if (pages.has(page)) return;
    pages.add(page);
    api.query({ ...parameters, offset: page * PAGE, limit: PAGE }, stop.signal).then(
      ({ elements, pagination: { total } }) => {
        if (stop.signal.aborted) return;
        setFound((known) => {
          const merged = new Map(known.name === name && known.total === total ? known.rows : []);
          elements.forEach((row, index) => merged.set(page * PAGE + index, row));
          return { name, rows: merged, total, error: null };
        });
      },
      (error: unknown) => {
        pages.delete(page);
        if (!stop.signal.aborted) setFound((known) => ({ ...known, name, error: error as ApiError }));
      },
    );
  };
  useEffect(() => {
    const { last } = asked.current;
    asked.current = { pages: new Set(), stop: new AbortController(), last: found.name === name ? last : 0 };
    if (found.name !== name) setFound(nothing(name));
    load(asked.current.last);
    return () => asked.current.stop.abort();
  }, [name, version]);
  const want = (from: number, to: number): void => {
    asked.current.last = Math.floor(from / PAGE);
    for (let page = Math.floor(from / PAGE); page <= Math.floor(to / PAGE); page += 1) load(page);
  };
  return { ...(found.name === name ? found : nothing(name)), want };
}

function nothing(name: string) {
  return { name, rows: new Map<number, never>(), total: null, error: null };
}

interface Sight {
  readonly from: number;
  readonly to: number;
}

/** Returns the rows in sight at the current scroll position; all rows of a short list. */
function sightOf(list: HTMLElement, height: number, total: number): Sight {
  if (total <= PAGE) return { from: 0, to: total };
  const { top } = list.getBoundingClientRect();
  const bounded = (row: number): number => Math.max(0, Math.min(total, row));
  return {
    from: bounded(Math.floor(-top / height) - BESIDE),
    to: bounded(Math.ceil((innerHeight - top) / height) + BESIDE),
  };
}

function useSight(list: { readonly current: HTMLElement | null }, height: number, total: number): Sight {
  const [sight, setSight] = useState<Sight>({ from: 0, to: FIRST });
  useLayoutEffect(() => {
    // A list whose length is unknown is too short for its place, which stays as it is until then.
    if (total === 0) return;
    let frame = 0;
    const look = (): void => {
      frame = 0;
      if (list.current === null) return;
      const next = sightOf(list.current, height, total);
      setSight((last) => (last.from === next.from && last.to === next.to ? last : next));
      places.set(location.search, -list.current.getBoundingClientRect().top);
    };
    const soon = (): void => {
      frame ||= requestAnimationFrame(look);
    };
    const place = places.get(location.search);
    if (place !== undefined && list.current !== null)
      scrollBy(0, list.current.getBoundingClientRect().top + place);
    look();
    addEventListener('scroll', soon, { passive: true });
    addEventListener('resize', soon);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('scroll', soon);
      removeEventListener('resize', soon);
    };
  }, [height, total]);
  return sight;
}

/**
 * Rows of equal height. Arrow keys move between rows, Home and End to the first and last; each row has one link that
 * takes the focus. Screen readers announce a row's number and the total.
 */
export function VirtualList({
  list: { rows, total, error, want },
  rowHeight,
  label,
  empty,
  children,
}: {
  readonly list: Rows;
  /** Pixels. */
  readonly rowHeight: number;
  readonly label: string;
  readonly empty: ComponentChildren;
  readonly children: (item: Row) => ComponentChildren;
}) {
  const element = useRef<HTMLUListElement>(null);
  const length = Math.min(MOST, total ?? 0);
  const { from, to } = useSight(element, rowHeight, length);
  const [focused, setFocused] = useState<number | null>(null);
  /** The row that a key selected, until it has the focus. */
  const wanted = useRef<number | null>(null);
  const end = Math.min(to, length);
  useEffect(() => {
    if (end > from) want(from, end - 1);
  });
  useLayoutEffect(() => {
    if (focused === null || wanted.current !== focused) return;
    const link = element.current?.querySelector<HTMLElement>(`[aria-posinset="${focused + 1}"] a`);
    if (link === null || link === undefined) return;
    wanted.current = null;
    link.focus({ preventScroll: true });
    link.closest('li')?.scrollIntoView({ block: 'nearest' });
  });
  const move = (event: KeyboardEvent): void => {
    const next = nextRow(event.key, focused ?? 0, length);
    if (next === null || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    wanted.current = next;
    setFocused(next);
    // Scrolls to a distant row, so that it enters the document.
    const list = element.current;
    if (list !== null && (next < from || next >= end))
      scrollTo(0, scrollY + list.getBoundingClientRect().top + next * rowHeight - innerHeight / 2);
  };
  if (total === null && error !== null) return <Fault error={error} />;
  if (total === 0) return <Empty>{empty}</Empty>;
  const rendered = Array.from({ length: Math.max(0, end - from) }, (_, index) => from + index);
  // In its place, because the browser takes the focus from an element that moves in the document.
  if (focused !== null && focused < length) {
    if (focused < from) rendered.unshift(focused);
    else if (focused >= end) rendered.push(focused);
  }
  return (
    <>
      <Fault error={error} />
      <ul
        ref={element}
        class="virtual"
        aria-label={label}
        aria-busy={total === null}
        style={{ height: `${(total === null ? FIRST : length) * rowHeight}px` }}
        onKeyDown={move}
      >
        {rendered.map((index) => {
          const item = rows.get(index);
          return (
            <li
              key={index}
              aria-setsize={length}
              aria-posinset={index + 1}
              style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
              onfocusin={() => setFocused(index)}
            >
              {item === undefined ? <span class="hidden">Loading</span> : children(item)}
            </li>
          );
        })}
      </ul>
      {(total ?? 0) <= MOST ? null : (
        <p class="faint">
          These are the first {formatCount(MOST)}. Filters lead to the others, and CSV has all.
        </p>
      )}
    </>
  );
}

function nextRow(key: string, row: number, length: number): number | null {
  const last = length - 1;
  if (key === 'ArrowDown') return Math.min(last, row + 1);
  if (key === 'ArrowUp') return Math.max(0, row - 1);
  if (key === 'Home') return 0;
  return key === 'End' ? last : null;
}
