/**
 * The view of changes: what is new, rising, falling or gone, compared with the period before.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { api, type ChangesResponse, type EffectsResponse } from './api.ts';
import { SaveDigest } from './digest.tsx';
import { counted, formatCount, formatShare, formatSpan } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { Empty, Fault, Go, Head, Loading, Section } from './parts.tsx';
import { usePeriod } from './period.ts';
import { useAttributes } from './segments.tsx';

type Change = ChangesResponse['changes'][number];
type Effect = EffectsResponse['effects'][number];

type Entities = Pick<Effect, 'topic' | 'gap' | 'csatDsatSignal' | 'repeatedRequest'>;

/** Returns the entity of a change, a difference or an effect. */
export function entityOf({ topic, gap, csatDsatSignal, repeatedRequest }: Entities) {
  const { id, name } = topic ?? gap ?? csatDsatSignal ?? repeatedRequest ?? { id: '', name: '' };
  const signal = csatDsatSignal === undefined ? 'repeat' : 'signal';
  const view = topic !== undefined ? 'topic' : gap !== undefined ? 'gap' : signal;
  return { id, name, view, kind: csatDsatSignal?.signalType ?? view } as const;
}

/** Lists the strongest changes in a column. */
export function ChangesInShort({ found: { changes, before } }: { readonly found: ChangesResponse }) {
  const { isShared } = useNavigation();
  return (
    <Section title="What changed">
      {changes.length === 0 ? (
        <NoChange before={before.sessions} />
      ) : (
        <table>
          <tbody>
            {changes.slice(0, 8).map((change) => (
              <tr key={entityOf(change).id}>
                <NameAndChange change={change} />
                <td class="number">
                  {formatShare(change.shareBefore)} → {formatShare(change.share)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {isShared ? null : (
        <p class="more">
          <Go to={{ view: 'changes', id: '' }}>
            {changes.length > 8 ? `All ${formatCount(changes.length)} changes` : 'How this was compared'}
          </Go>
        </p>
      )}
    </Section>
  );
}

/** The first two cells of a row. */
function NameAndChange({ change }: { readonly change: Change }) {
  const { id, name, view, kind } = entityOf(change);
  return (
    <>
      <td>
        <Go to={{ view, id }} title={name}>
          {name}
        </Go>{' '}
        <span class="faint">{kind}</span>
      </td>
      <td>
        <span class={`change ${change.change}`}>{change.change}</span>
      </td>
    </>
  );
}

function NoChange({ before }: { readonly before: number }) {
  return (
    <Empty>
      {before === 0
        ? 'There is nothing to compare with: the period before has no conversation.'
        : 'No change is larger than chance explains.'}
    </Empty>
  );
}

/** Lists all changes with their counts. */
export function ChangesPage({
  version,
  instanceName,
}: {
  readonly version: string;
  /** Left out: no digest is offered. */
  readonly instanceName?: string;
}) {
  const { state } = useNavigation();
  const period = usePeriod();
  const compare = state.compare === 'none' ? 'previous' : state.compare;
  const isAll = period.range['dateRange.start'] === undefined;
  const compared = useAttributes(version).filter(({ values }) => values.length > 1);
  const { value, error } = useAnswer(`changes ${period.name}`, version, async (signal) =>
    isAll
      ? null
      : api.changes({ instanceId: period.instance, ...period.range, compare, limit: 10_000 }, signal),
  );
  if (isAll) return <Empty>All time has no period before it. Choose a shorter one.</Empty>;
  if (value === null) return error === null ? <Loading /> : <Fault error={error} />;
  const { changes, period: now, before } = value;
  const csv = () => [
    ['kind', 'name', 'id', 'change', 'sessions', 'sessionsBefore', 'share', 'shareBefore', 'chance'],
    ...changes.map((change) => {
      const { id, name, kind } = entityOf(change);
      const { sessions, sessionsBefore, share, shareBefore, chance } = change;
      return [kind, name, id, change.change, sessions, sessionsBefore, share, shareBefore, chance];
    }),
  ];
  return (
    <>
      <div class="heading">
        <h1>What changed</h1>
        <p class="lead">
          {formatSpan(now)} ({formatCount(now.sessions)} conversations) against {formatSpan(before)} (
          {formatCount(before.sessions)}), the same weekdays. What is compared is each one’s share of all
          conversations. Only changes larger than chance explains are listed, the least likely first. Even
          when nothing has changed, about one list in twenty names something.
        </p>
        {compared.length === 0 ? null : (
          <p class="lead">
            This page compares periods. <Go to={{ view: 'overview', id: '' }}>“By attribute”</Go> on the
            overview compares the values of {compared.map(({ name }) => name).join(', ')}.
          </p>
        )}
        {instanceName === undefined ? null : (
          <div class="curate">
            <SaveDigest instanceName={instanceName} />
          </div>
        )}
      </div>
      <Section title={counted(changes.length, 'change')} {...(changes.length === 0 ? {} : { csv })}>
        {changes.length === 0 ? <NoChange before={before.sessions} /> : <ChangeTable changes={changes} />}
      </Section>
    </>
  );
}

function ChangeTable({ changes }: { readonly changes: readonly Change[] }) {
  return (
    <table>
      <Head
        columns={[
          ['What'],
          ['Change'],
          ['Before', 'number'],
          ['Now', 'number'],
          ['By chance', 'number wide'],
        ]}
      />
      <tbody>
        {changes.map((change) => (
          <tr key={entityOf(change).id}>
            <NameAndChange change={change} />
            <td class="number">
              {formatShare(change.shareBefore)}{' '}
              <span class="faint">({formatCount(change.sessionsBefore)})</span>
            </td>
            <td class="number">
              {formatShare(change.share)} <span class="faint">({formatCount(change.sessions)})</span>
            </td>
            <td class="number wide">
              {change.chance < 0.001 ? '< 0.001' : `${Number(change.chance.toPrecision(1))}`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
