/**
 * Charts as SVG. Each has the same numbers as text for readers who cannot see it.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { scaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatClock, formatClockDay, formatCount, formatNet, formatTicks } from './format.ts';
import { Head } from './parts.tsx';
import type { Period } from './period.ts';
import { placeLabels, type Release } from './releases.ts';
import { zoneName } from './zone.ts';

export interface Point {
  /** Start of the bucket, local time. */
  readonly date: string;
  readonly value: number;
}

/** A line without axes. */
export function Sparkline({ points, label }: { readonly points: readonly Point[]; readonly label: string }) {
  const [width, height] = [96, 24];
  const most = Math.max(1, ...points.map(({ value }) => value));
  const x = scaleLinear([0, Math.max(1, points.length - 1)], [1, width - 1]);
  const y = scaleLinear([0, most], [height - 2, 2]);
  const path = line<Point>(
    (_, index) => x(index),
    ({ value }) => y(value),
  )([...points]);
  const text = `${label}: ${points.map(({ value }) => formatCount(value)).join(', ')}`;
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={text}
    >
      <path d={path ?? ''} />
    </svg>
  );
}

/** Returns the current width of an element, pixels. */
function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(720);
  useEffect(() => {
    const { current } = element;
    if (current === null) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(240, Math.floor(current.clientWidth))));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return width;
}

/** A trend, or a bar if it has one value, over the trend of the period before, with a line at each release, and a table of the same numbers. */
export function Trend({
  points,
  before,
  period: { earlier, isOpen },
  releases,
  label,
}: {
  readonly points: readonly Point[];
  readonly before: readonly Point[] | null;
  readonly period: Pick<Period, 'earlier' | 'isOpen'>;
  readonly releases: readonly Release[];
  readonly label: string;
}) {
  const figure = useRef<HTMLElement>(null);
  const width = useWidth(figure);
  const [place, setPlace] = useState<number | null>(null);
  const [height, left, bottom] = [180, 40, 22];
  const length = Math.max(points.length, before?.length ?? 0, 2);
  const most = Math.max(1, ...points.map(({ value }) => value), ...(before ?? []).map(({ value }) => value));
  const lone = points.length === 1 ? points[0] : undefined;
  const x = scaleLinear(lone === undefined ? [0, length - 1] : [-1, 1], [left, width - 8]);
  const y = scaleLinear([0, most], [height - bottom, 8]).nice(4);
  const at = line<Point>(
    (_, index) => x(index),
    ({ value }) => y(value),
  );
  const fill = area<Point>(
    (_, index) => x(index),
    y(0),
    ({ value }) => y(value),
  );
  // With its open bucket, the line would fall towards zero each morning.
  const closed = isOpen ? points.slice(0, -1) : points;
  const last = points.at(-1);
  const names = [...new Set(releases.map(({ name }) => name))];
  const legend = [
    ...(before?.some(({ value }) => value > 0) === true ? [`Dashed: the ${earlier}`] : []),
    ...(isOpen ? ['Ring: so far, as it is not over yet'] : []),
    ...(names.length === 0 ? [] : [`Vertical: a new ${names.join(' or ')}`]),
  ];
  const chosen = place === null ? undefined : points[place];
  const ticks = y.ticks(4).filter(Number.isInteger);
  const marks = [0, Math.floor((points.length - 1) / 2), points.length - 1];
  const marked = [...new Set(marks)].filter((index) => points[index] !== undefined);
  const texts = formatTicks(marked.map((index) => points[index]!.date));
  const labels = marked.map((index, place) => ({ index, text: texts[place]! }));
  return (
    <figure class="trend" ref={figure}>
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={`${label} over time. Left and right arrow keys read each value.`}
        tabIndex={0}
        onPointerMove={(event) => {
          const at = x.invert(event.clientX - event.currentTarget.getBoundingClientRect().left);
          setPlace(Math.round(Math.min(Math.max(at, 0), points.length - 1)));
        }}
        onPointerLeave={() => setPlace(null)}
        onBlur={() => setPlace(null)}
        onKeyDown={(event) => {
          const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
          if (step === undefined) return;
          event.preventDefault();
          const next = place === null ? points.length - 1 : place + step;
          setPlace(Math.min(Math.max(next, 0), points.length - 1));
        }}
      >
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="grid" x1={left} x2={width - 8} y1={y(tick)} y2={y(tick)} />
            <text class="tick" x={left - 8} y={y(tick)} dy="0.32em" text-anchor="end">
              {formatCount(tick)}
            </text>
          </g>
        ))}
        {labels.map(({ index, text }, place) => (
          <text
            key={index}
            class="tick"
            x={x(index)}
            y={height - 4}
            text-anchor={
              lone !== undefined
                ? 'middle'
                : place === 0
                  ? 'start'
                  : index === points.length - 1
                    ? 'end'
                    : 'middle'
            }
          >
            {text}
          </text>
        ))}
        {before === null ? null : <path class="before" d={at([...before]) ?? ''} />}
        <path class="fill" d={fill([...closed]) ?? ''} />
        {lone === undefined ? null : (
          <g class="lone">
            <rect x={x(0) - BAR / 2} y={y(lone.value)} width={BAR} height={y(0) - y(lone.value)} />
            <text class="tick" x={x(0) + BAR} y={y(lone.value)} dy="0.7em">
              {formatCount(lone.value)}
            </text>
          </g>
        )}
        <path class="now" d={at([...closed]) ?? ''} />
        <Releases
          releases={releases}
          xs={releases.map(({ index }) => x(index))}
          span={{ top: 8, bottom: height - bottom, width }}
        />
        {isOpen && last !== undefined ? (
          <circle class="open" cx={x(points.length - 1)} cy={y(last.value)} r={3} />
        ) : null}
        {chosen === undefined || place === null ? null : (
          <g class="chosen">
            <line x1={x(place)} x2={x(place)} y1={8} y2={height - bottom} />
            <circle cx={x(place)} cy={y(chosen.value)} r={4} />
          </g>
        )}
      </svg>
      <p class="faint reading" aria-live="polite">
        {chosen === undefined || place === null
          ? ''
          : `${readingOf(chosen, before?.[place], label, isOpen && place === points.length - 1)}${newIn(releases, place)}`}
      </p>
      {legend.length === 0 ? null : <figcaption class="faint">{legend.join('. ')}</figcaption>}
      <details class="twin">
        <summary>{label} as a table</summary>
        <table>
          <Head
            columns={[
              [`From (${zoneName()})`],
              [label, 'number'],
              ...(before === null ? [] : ([['Before', 'number']] as const)),
            ]}
          />
          <tbody>
            {points.map(({ date, value }, index) => (
              <tr key={date}>
                <td>
                  {date.slice(0, 16).replace('T', ' ')}
                  {isOpen && index === points.length - 1 ? ' (so far)' : ''}
                  {newIn(releases, index)}
                </td>
                <td class="number">{formatCount(value)}</td>
                {before === null ? null : <td class="number">{formatCount(before[index]?.value)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/** Width of the bar of a trend of one value, pixels. */
const BAR = 24;

/** Height of a row of labels, pixels. */
const LABEL_ROW = 13;

/** A vertical line where a value of an attribute is new, with the value beside it. */
function Releases({
  releases,
  xs,
  span: { top, bottom, width },
}: {
  readonly releases: readonly Release[];
  /** Place of each line, pixels from the left. */
  readonly xs: readonly number[];
  readonly span: { readonly top: number; readonly bottom: number; readonly width: number };
}) {
  const labels = placeLabels(
    releases.map(({ value }) => value),
    xs,
    width,
  );
  return (
    <>
      {releases.map(({ name, value, at: begun }, index) => {
        const { text, line: at, x, anchor, row } = labels[index]!;
        return (
          <g key={`${name} ${value}`} class="release">
            <title>{`${name}: ${value}, new on ${formatClockDay(begun)}`}</title>
            <line x1={at} x2={at} y1={top} y2={bottom} />
            <line class="reach" x1={at} x2={at} y1={top} y2={bottom} />
            <text x={x} y={top + LABEL_ROW * row} dy="0.7em" text-anchor={anchor}>
              {text}
            </text>
          </g>
        );
      })}
    </>
  );
}

/** Words what is new in a bucket: `; new: version 3.2`. */
function newIn(releases: readonly Release[], place: number): string {
  const found = releases.filter(({ index }) => index === place).map(({ name, value }) => `${name} ${value}`);
  return found.length === 0 ? '' : `; new: ${found.join(', ')}`;
}

/** Words the value of a bucket. */
function readingOf(point: Point, before: Point | undefined, label: string, isOpen: boolean): string {
  const at = point.date.includes('T00:00:00') ? formatClockDay(point.date) : formatClock(point.date);
  const earlier = before === undefined ? '' : ` (before: ${formatCount(before.value)})`;
  return `${at}${isOpen ? ', so far' : ''}: ${label} ${formatCount(point.value)}${earlier}`;
}

/** Longest bar of net satisfaction; a longer one has a gap before its end. */
export const LONGEST_NET = 20;

/** Draws net satisfaction as a bar from the middle: blue to the right, orange to the left. */
export function NetBar({ value }: { readonly value: number | null | undefined }) {
  const share = Math.min(1, Math.abs(value ?? 0) / LONGEST_NET) * 50;
  const isGood = (value ?? 0) >= 0;
  const isCut = Math.abs(value ?? 0) > LONGEST_NET;
  return (
    <span class="net" {...(isCut ? { title: `The bar is cut at ${LONGEST_NET}.` } : {})}>
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">
        <line x1="50" x2="50" y1="0" y2="10" />
        <rect class={isGood ? 'good' : 'bad'} x={isGood ? 50 : 50 - share} y="1" width={share} height="8" />
        {isCut ? <rect class="cut" x={isGood ? 90 : 6} y="0" width="4" height="10" /> : null}
      </svg>
      <span class="number">{formatNet(value)}</span>
    </span>
  );
}

/** Draws a share of the whole as a bar under a number. */
export function ShareBar({ share }: { readonly share: number }) {
  return (
    <svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect class="whole" width="100" height="4" rx="2" />
      <rect class="part" width={Math.min(1, share) * 100} height="4" rx="2" />
    </svg>
  );
}
