/**
 * Lists of what was found: gaps (`gaps.tsx`), repeated requests, signals and labels.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { Fragment, type ComponentChildren } from 'preact';
import type { OverviewResponse, Row } from './api.ts';
import { counted, excessOf, formatCount, formatUsd, TYPE_WORDS } from './format.ts';
import { LifeTag } from './life.tsx';
import { Empty, Go, Ranked, Section } from './parts.tsx';

export function Repeats({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <Found
      title="Asked again"
      view="repeat"
      rows={rows}
      empty="Nobody had to ask for the same thing again."
    />
  );
}

export function Signals({
  rows,
  observed,
  agreement,
}: {
  readonly rows: readonly Row[];
  /** Null: not asked for. */
  readonly observed: readonly Row[] | null;
  readonly agreement: OverviewResponse['agreement'];
}) {
  return (
    <Found
      title="Satisfaction and dissatisfaction"
      view="signal"
      rows={rows}
      empty="Nobody showed satisfaction or dissatisfaction."
    >
      {agreement === null || agreement.both === 0 ? null : (
        <p class="faint">
          Thumbs and texts point the same way in {formatCount(agreement.agreed)} of{' '}
          {counted(agreement.both, 'conversation')} where both say something.
        </p>
      )}
      <Unchecked
        observed={observed}
        listed={new Set(rows.map(({ dimensions }) => dimensions.csatDsatSignal?.id ?? ''))}
      />
    </Found>
  );
}

/** Links what the assistant seems to have done wrong, and nobody has checked. */
function Unchecked({
  observed,
  listed,
}: {
  readonly observed: readonly Row[] | null;
  /** Ids of the signals in the list. */
  readonly listed: ReadonlySet<string>;
}) {
  if (observed === null) return null;
  const rows = observed.filter(({ dimensions }) => !listed.has(dimensions.csatDsatSignal?.id ?? ''));
  if (rows.length === 0) return null;
  return (
    <p class="faint">
      The assistant may have gone wrong in these ways; one joins the list once somebody has checked it:{' '}
      {rows.map(({ dimensions: { csatDsatSignal: { id = '', name = '' } = {} }, fields }, index) => (
        <Fragment key={id}>
          {index === 0 ? '' : ', '}
          <Go to={{ view: 'signal', id }}>{name}</Go> ({counted(fields.sessions ?? 0, 'conversation')})
        </Fragment>
      ))}
      .
    </p>
  );
}

/** Nothing where nobody has made a label: a message is the best place to make one from. */
export function Labels({ rows }: { readonly rows: readonly Row[] }) {
  return rows.length === 0 ? null : <Found title="Labels" view="label" rows={rows} empty="" />;
}

/** A list of gaps, repeated requests, signals or labels. */
export function Found({
  title,
  view,
  rows,
  lead,
  costs,
  empty,
  children,
}: {
  readonly title: string;
  readonly view: 'gap' | 'repeat' | 'signal' | 'label';
  readonly rows: readonly Row[];
  /** What stands above the list. */
  readonly lead?: ComponentChildren;
  /** What the conversations of each row cost, US dollars by id; absent: no column. */
  readonly costs?: ReadonlyMap<string, number> | undefined;
  readonly empty: string;
  /** What follows the list. */
  readonly children?: ComponentChildren;
}) {
  const found = rows.map(({ dimensions: { gap, repeatedRequest, csatDsatSignal, label }, fields }) => {
    const { id = '', name = '', description = '' } = gap ?? repeatedRequest ?? csatDsatSignal ?? label ?? {};
    const life = (gap ?? repeatedRequest ?? csatDsatSignal)?.life;
    return { id, name, description, life, type: gap?.gapType ?? csatDsatSignal?.signalType, fields };
  });
  const csv = (): (string | number)[][] => [
    [...HEADS[view], 'id', 'sessions', 'users', 'messages', ...(costs ? ['costUsd'] : [])],
    ...found.map(({ id, name, type, fields: { sessions = 0, users = 0, messages = 0 } }) => [
      name,
      ...(HEADS[view].length > 1 ? [type ?? ''] : []),
      id,
      sessions,
      users,
      messages,
      ...(costs ? [costs.get(id) ?? ''] : []),
    ]),
  ];
  if (found.length === 0)
    return (
      <Section title={title} csv={csv}>
        <Empty>{empty}</Empty>
      </Section>
    );
  return (
    <Section title={title} csv={csv}>
      {lead}
      <Ranked
        {...(costs ? { columns: [[title], ['Conversations', 'number'], ['Cost', 'number']] } : {})}
        rows={found.map(({ id, name, description, life, type, fields }) => ({
          id,
          name,
          tag: <LifeTag life={life} />,
          ...(description ? { title: description } : {}),
          ...(type === undefined
            ? {}
            : { note: [TYPE_WORDS[type], moreWords(fields)].filter(Boolean).join(' · ') }),
          count: fields.sessions,
          ...(costs ? { cost: costs.has(id) ? formatUsd(costs.get(id)!) : '–' } : {}),
          to: { view, id },
        }))}
      />
      {children}
    </Section>
  );
}

/** Says how many more conversations are dissatisfied than of as many average ones; '' for none. */
function moreWords(fields: Row['fields']): string {
  const more = excessOf(fields);
  return more <= 0 ? '' : `${formatCount(more)} more dissatisfied than average`;
}

const HEADS = {
  gap: ['gap', 'type'],
  repeat: ['request'],
  signal: ['signal', 'type'],
  label: ['label'],
} as const;
