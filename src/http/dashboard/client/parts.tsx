/** Small parts that several views share. */
import type { ComponentChildren } from 'preact';
import type { ApiError } from './api.ts';
import { toCsv } from '../../../domain/csv.ts';
import { changeOf, shownCount, shownNet } from './format.ts';
import { useNavigation } from './hooks.ts';
import type { PageState } from './state.ts';

/** A link to another state of the page: a click changes the state, a middle click opens a tab. */
export function Go({
  to,
  children,
  class: name,
}: {
  readonly to: Partial<PageState>;
  readonly children: ComponentChildren;
  readonly class?: string;
}) {
  const { go, hrefOf } = useNavigation();
  return (
    <a
      href={hrefOf(to)}
      {...(name === undefined ? {} : { class: name })}
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

/** A number of the period with its change against the one before. */
export function Figure({
  label,
  now,
  before,
  isNet = false,
  goodWhen = 'none',
}: {
  readonly label: string;
  readonly now: number | null | undefined;
  /** Undefined: nothing is compared. */
  readonly before: number | null | undefined;
  readonly isNet?: boolean;
  readonly goodWhen?: 'up' | 'down' | 'none';
}) {
  const shown = isNet ? shownNet(now) : shownCount(now);
  return (
    <div class="figure">
      <span class="label">{label}</span>
      <span class="value">{shown}</span>
      {before === undefined ? null : (
        <Delta now={now ?? null} before={before} isNet={isNet} goodWhen={goodWhen} />
      )}
    </div>
  );
}

function Delta({
  now,
  before,
  isNet,
  goodWhen,
}: {
  readonly now: number | null;
  readonly before: number | null;
  readonly isNet: boolean;
  readonly goodWhen: 'up' | 'down' | 'none';
}) {
  if (now === null || before === null) return <span class="delta">no comparison</span>;
  const points = now - before;
  const change = isNet
    ? { text: `${shownNet(points)} points`, direction: Math.sign(Math.round(points * 10)) }
    : changeOf(now, before);
  if (change === null) return <span class="delta">no change</span>;
  const isGood =
    goodWhen === 'none' || change.direction === 0 ? null : change.direction > 0 === (goodWhen === 'up');
  const name = isGood === null ? 'delta' : `delta ${isGood ? 'good' : 'bad'}`;
  return (
    <span class={name} title={`before: ${isNet ? shownNet(before) : shownCount(before)}`}>
      {change.text}
    </span>
  );
}

/** A section with a heading, and a button that saves its table as CSV. */
export function Section({
  title,
  csv,
  children,
}: {
  readonly title: string;
  readonly csv?: () => readonly (readonly (string | number | null)[])[];
  readonly children: ComponentChildren;
}) {
  return (
    <section>
      <header>
        <h2>{title}</h2>
        {csv === undefined ? null : (
          <button type="button" class="quiet" onClick={() => save(`${title}.csv`, toCsv(csv()))}>
            CSV<span class="hidden"> of {title}</span>
          </button>
        )}
      </header>
      {children}
    </section>
  );
}

function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name.toLowerCase().replaceAll(' ', '-');
  link.click();
  URL.revokeObjectURL(url);
}

/** A list of names, each with a number, that lead somewhere. */
export function Ranked({
  rows,
}: {
  readonly rows: readonly {
    readonly id: string;
    readonly name: string;
    /** What else is to say of it, in a word. */
    readonly note?: string;
    readonly count: number | undefined;
    /** Absent: it leads nowhere. */
    readonly to?: Partial<PageState>;
  }[];
}) {
  return (
    <table>
      <tbody>
        {rows.map(({ id, name, note, count, to }) => (
          <tr key={id}>
            <td>
              {to === undefined ? name : <Go to={to}>{name}</Go>}
              {note === undefined ? null : <span class="faint"> {note}</span>}
            </td>
            <td class="number">{shownCount(count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What stands where there is nothing to show. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** A calm line in place of what could not be had. */
export function Fault({ error }: { readonly error: ApiError }) {
  return (
    <p class="fault" role="alert">
      {error.message}
    </p>
  );
}
