/**
 * Small components that several views share.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiError } from './api.ts';
import { toCsv } from '../../../domain/csv.ts';
import type { SessionOutcome } from '../../../domain/session-outcomes.ts';
import {
  changeOf,
  outcomeWords,
  formatClockDay,
  formatCount,
  formatNet,
  formatPoints,
  formatShare,
  tooFew,
} from './format.ts';
import { useNavigation } from './hooks.ts';
import type { PageState } from './state.ts';

/** A link to another state of the page: a click changes the state, a middle click opens a tab. */
export function Go({
  to,
  children,
  class: name,
  title,
  current = false,
}: {
  readonly to: Partial<PageState>;
  /** The full text, if the visible one may be cut. */
  readonly title?: string;
  /** Marks the current page. */
  readonly current?: boolean;
  readonly children: ComponentChildren;
  readonly class?: string;
}) {
  const { go, hrefOf, isShared } = useNavigation();
  const marks = {
    ...(name === undefined ? {} : { class: name }),
    ...(title === undefined ? {} : { title }),
  };
  if (isShared) return <span {...marks}>{children}</span>;
  return (
    <a
      href={hrefOf(to)}
      {...marks}
      {...(current ? { 'aria-current': 'page' as const } : {})}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go(to);
        scrollTo(0, 0);
      }}
    >
      {children}
    </a>
  );
}

/** Format of a number: `net` in percent with its sign, `share` from 0 to 1. */
export type Unit = 'count' | 'net' | 'share';

const FORMATTERS: Readonly<Record<Unit, (value: number | null | undefined) => string>> = {
  count: formatCount,
  net: formatNet,
  share: (value) => (value === null || value === undefined ? '–' : formatShare(value)),
};

/** A number of the period with its change from the period before. */
export function Figure({
  label,
  now,
  before,
  unit = 'count',
  of,
  goodWhen = 'none',
  note,
  meaning,
  to,
}: {
  readonly label: string;
  readonly now: number | null | undefined;
  /** Undefined without a comparison. */
  readonly before?: number | null | undefined;
  readonly unit?: Unit;
  /** Conversations on which a share rests: a change of one of a few says nothing. */
  readonly of?: { readonly now: number; readonly before: number };
  readonly goodWhen?: 'up' | 'down' | 'none';
  /** Context, such as an average. */
  readonly note?: ComponentChildren;
  /** Explains in a sentence what is counted. */
  readonly meaning?: string;
  /** The page that lists the counted items. */
  readonly to?: Partial<PageState>;
}) {
  const value = FORMATTERS[unit](now);
  return (
    <div class="figure">
      <span class="label">{label}</span>
      <span class="value">{to === undefined ? value : <Go to={to}>{value}</Go>}</span>
      {before === undefined ? null : (
        <Delta now={now ?? null} before={before} unit={unit} few={of && tooFew(of)} goodWhen={goodWhen} />
      )}
      {note === undefined || note === null ? null : <span class="delta">{note}</span>}
      {meaning === undefined ? null : <span class="meaning">{meaning}</span>}
    </div>
  );
}

/** Explains why there is no comparison: the period before begins without messages. Nothing for a null `day`. */
export function BeganLate({ day }: { readonly day: string | null }) {
  return day === null ? null : (
    <p class="faint">
      The period before has messages only from {formatClockDay(day)} on, so these numbers are not compared
      with it.
    </p>
  );
}

/** A figure with text in place of a number. */
export function Fact({
  label,
  text,
  note,
  meaning,
}: {
  readonly label: string;
  readonly text: string;
  readonly note?: string;
  /** Explains in a sentence what is counted. */
  readonly meaning?: string;
}) {
  return (
    <div class="figure">
      <span class="label">{label}</span>
      <span class="fact">{text}</span>
      {note === undefined ? null : <span class="delta">{note}</span>}
      {meaning === undefined ? null : <span class="meaning">{meaning}</span>}
    </div>
  );
}

function Delta({
  now,
  before,
  unit,
  few = '',
  goodWhen,
}: {
  readonly now: number | null;
  readonly before: number | null;
  readonly unit: Unit;
  /** Stands in the place of a change that says nothing. */
  readonly few?: string | undefined;
  readonly goodWhen: 'up' | 'down' | 'none';
}) {
  if (now === null || before === null) return <span class="delta">no comparison</span>;
  const was = `before: ${FORMATTERS[unit](before)}`;
  if (few !== '')
    return (
      <span class="delta" title={was}>
        {few}
      </span>
    );
  const points = (now - before) * (unit === 'share' ? 100 : 1);
  const change =
    unit === 'count'
      ? changeOf(now, before)
      : { text: formatPoints(points), direction: Math.sign(Math.round(points * 10)) };
  if (change === null) return <span class="delta">no change</span>;
  const isGood =
    goodWhen === 'none' || change.direction === 0 ? null : change.direction > 0 === (goodWhen === 'up');
  const name = isGood === null ? 'delta' : `delta ${isGood ? 'good' : 'bad'}`;
  return (
    <span class={name} title={was}>
      {change.text}
    </span>
  );
}

/** A section with a heading and a button that saves its table as CSV. */
export function Section({
  title,
  csv,
  action,
  children,
}: {
  readonly title: string;
  /** Further buttons. */
  readonly action?: ComponentChildren;
  /** Returns the rows of its table, or the file itself. */
  readonly csv?: () => readonly (readonly (string | number | null)[])[] | Promise<Blob>;
  readonly children: ComponentChildren;
}) {
  const { isShared } = useNavigation();
  const [fault, setFault] = useState<ApiError | null>(null);
  const save = (): void => {
    setFault(null);
    if (csv !== undefined) saveCsv(`${title}.csv`, csv()).catch(setFault);
  };
  return (
    <section>
      <header>
        <h2>{title}</h2>
        {isShared ? null : action}
        {csv === undefined || isShared ? null : (
          <button type="button" class="quiet" onClick={save}>
            CSV<span class="hidden"> of {title}</span>
          </button>
        )}
      </header>
      <Fault error={fault} />
      {children}
    </section>
  );
}

async function saveCsv(
  name: string,
  content: readonly (readonly (string | number | null)[])[] | Promise<Blob>,
): Promise<void> {
  const isRead = content instanceof Promise;
  saveFile(name, isRead ? await content : new Blob([toCsv(content)], { type: 'text/csv;charset=utf-8' }));
}

/** Saves a file as if it were downloaded. */
export function saveFile(name: string, file: Blob): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name.toLowerCase().replaceAll(' ', '-');
  link.click();
  URL.revokeObjectURL(url);
}

/** The head of a table. A column has words, and a class where it is not plain text. */
export function Head({
  columns,
}: {
  readonly columns: readonly (readonly [words: string, name?: string])[];
}) {
  return (
    <thead>
      <tr>
        {columns.map(([words, name]) => (
          <th key={words} scope="col" {...(name === undefined ? {} : { class: name })}>
            {words}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** Rows of a list before it is expanded. */
const FIRST_ROWS = 10;

/** A list of names with numbers and links; a long one can be expanded. */
export function Ranked({
  columns,
  rows,
}: {
  /** Heads of the columns; absent: none. */
  readonly columns?: readonly (readonly [words: string, name?: string])[];
  readonly rows: readonly {
    readonly id: string;
    readonly name: string;
    /** A word after the name. */
    readonly note?: string;
    /** Stands after the note. */
    readonly tag?: ComponentChildren;
    /** The full or explained name. */
    readonly title?: string;
    readonly count: number | undefined;
    /** Stands in a column of its own. */
    readonly cost?: string;
    /** Absent: no link. */
    readonly to?: Partial<PageState>;
  }[];
}) {
  const [isWhole, setWhole] = useState(false);
  const table = (
    <table>
      {columns === undefined ? null : <Head columns={columns} />}
      <tbody>
        {(isWhole ? rows : rows.slice(0, FIRST_ROWS)).map(
          ({ id, name, note, tag, title = name, count, cost, to }) => (
            <tr key={id}>
              <td>
                {to === undefined ? (
                  <span title={title}>{name}</span>
                ) : (
                  <Go to={to} title={title}>
                    {name}
                  </Go>
                )}
                {note === undefined ? null : <span class="faint"> {note}</span>}
                {tag}
              </td>
              <td class="number">{formatCount(count)}</td>
              {cost === undefined ? null : <td class="number">{cost}</td>}
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
  if (isWhole || rows.length <= FIRST_ROWS) return table;
  return (
    <>
      {table}
      <p class="more">
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          {formatCount(rows.length - FIRST_ROWS)} more
        </button>
      </p>
    </>
  );
}

/** The outcome of a conversation, with its meaning as title. */
export function Outcome({ outcome }: { readonly outcome: SessionOutcome | null }) {
  const { label, meaning } = outcomeWords(outcome);
  return <span title={meaning}>{label}</span>;
}

/** Placeholder while numbers load. */
export function Loading() {
  return (
    <div class="loading" role="status">
      <span class="hidden">Loading …</span>
      {[0, 1, 2].map((row) => (
        <div key={row} class="skeleton" aria-hidden="true" />
      ))}
    </div>
  );
}

/** The same as the static document before its script runs. */
export function Waiting() {
  return (
    <>
      <header class="bar">
        <span class="brand">Undertone</span>
      </header>
      <main>
        <Loading />
      </main>
    </>
  );
}

/** Text for an empty list. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** Nothing without an error. */
export function Fault({ error }: { readonly error: { readonly message: string } | null }) {
  return error === null ? null : (
    <p class="fault" role="alert">
      {error.message}
    </p>
  );
}
