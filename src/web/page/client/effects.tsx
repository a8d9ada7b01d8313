/**
 * Whether what was fixed helped: a line under the status of an entity, and a list on the overview.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { EFFECT_VERDICTS, EFFECT_WORDS, type EffectVerdict } from '../../../domain/effects.ts';
import { api, type EffectsResponse } from './api.ts';
import { entityOf } from './changes.tsx';
import { counted, formatCount, formatNet, formatPoints, formatShare, formatSpan } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { Go, Section } from './parts.tsx';
import { usePeriod } from './period.ts';
import type { PageState } from './state.ts';
import { clockAt } from './zone.ts';

type Effect = EffectsResponse['effects'][number];
type Side = NonNullable<Effect['before']>;

const LOOKS: Readonly<Record<EffectVerdict, string>> = {
  HELPED: 'tag good',
  CAME_BACK: 'tag bad',
  WORSE: 'tag bad',
  AS_USUAL: 'tag',
  NO_DIFFERENCE: 'tag',
  TOO_EARLY: 'tag',
  NOTHING_BEFORE: 'tag',
};

/** Tells of one entity that is fixed. `life`: the statement, as another one has another answer. */
export function EffectOf({ id, life }: { readonly id: string; readonly life: string }) {
  const found = useEffects(life, { id });
  const effect = found?.effects[0];
  if (effect === undefined) return null;
  const { verdict, before, after, again, latest, soFar, difference } = effect;
  const { label, meaning } = EFFECT_WORDS[verdict];
  return (
    <p class="effect" role="status" aria-label="Did it help?">
      Did it help? <span class={LOOKS[verdict]}>{label}</span> {meaning}{' '}
      {after === null ? null : (
        <>
          {before === null ? null : (
            <>
              Before: <Counted side={before} effect={effect} />.{' '}
            </>
          )}
          After: <Counted side={after} effect={effect} />
          {difference === null || before?.sessions === 0 ? null : (
            <span class="faint">
              {' '}
              (a difference of {formatNet(100 * difference.low)} to {formatPoints(100 * difference.high)})
            </span>
          )}
          .{' '}
        </>
      )}
      {soFar === null ? null : <SoFar side={soFar} effect={effect} />}
      {again === null ? null : (
        <>
          Again: <Counted side={again} effect={effect} />.{' '}
        </>
      )}
      {latest === null ? null : (
        <>
          Latest: <Counted side={latest} effect={effect} />.
        </>
      )}
    </p>
  );
}

/** Example: “It came up in 9 of 120 conversations since then (21 May to 24 May).”; leads to them. */
function SoFar({ side, effect }: { readonly side: Side; readonly effect: Effect }) {
  const { id, view } = entityOf(effect);
  return (
    <>
      It came up in{' '}
      <Go to={{ view, id, range: daysOf(side) }}>
        {side.sessions === 0 ? 'none' : formatCount(side.sessions)} of {counted(side.of, 'conversation')}
      </Go>{' '}
      since then ({formatSpan(side)}).
    </>
  );
}

/** Example: “0.6 % of conversations (6 of 1,000, 21 May – 17 Jun)”; leads to them. */
function Counted({ side, effect }: { readonly side: Side; readonly effect: Effect }) {
  const { id, view } = entityOf(effect);
  return (
    <>
      {formatShare(side.share)} of conversations (
      <Go to={{ view, id, range: daysOf(side) }}>
        {formatCount(side.sessions)} of {formatCount(side.of)}, {formatSpan(side)}
      </Go>
      )
    </>
  );
}

/** Lists what was fixed, the news first; nothing where nothing was. `lives`: the statements, as others have other answers. */
export function Effects({ lives }: { readonly lives: string }) {
  const { isShared } = useNavigation();
  const found = useEffects(lives, { limit: LISTED }, !isShared);
  if (found === null || found.effects.length === 0) return null;
  const rows = found.effects.toSorted((a, b) => newsOf(a) - newsOf(b));
  return (
    <Section title="What was fixed">
      <table>
        <tbody>
          {rows.map((effect) => {
            const { id, name, view } = entityOf(effect);
            const { verdict, before, after, again, latest } = effect;
            const shares = [before, after, again ?? latest].flatMap((side) =>
              side === null ? [] : formatShare(side.share),
            );
            return (
              <tr key={id}>
                <td>
                  <Go to={{ view, id }} title={name}>
                    {name}
                  </Go>
                </td>
                <td>
                  <span class={LOOKS[verdict]} title={EFFECT_WORDS[verdict].meaning}>
                    {EFFECT_WORDS[verdict].label}
                  </span>
                </td>
                <td class="number">{shares.length < 2 ? '' : shares.join(' → ')}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="faint">
        Shares of conversations in the weeks before the fix, in the weeks after it, and in the latest weeks.
        Only a difference that is larger than chance explains counts as a change.
      </p>
    </Section>
  );
}

const LISTED = 20;
const newsOf = ({ verdict }: Effect): number => EFFECT_VERDICTS.indexOf(verdict);
function useEffects(
  version: string,
  more: Readonly<Record<string, string | number>>,
  isWanted = true,
): EffectsResponse | null {
  const { instance, segment } = usePeriod();
  const key = `effects ${instance} ${JSON.stringify([segment, more])}`;
  const { value } = useAnswer(key, version, async (signal) =>
    isWanted ? api.effects({ instanceId: instance, ...segment, ...more }, signal) : null,
  );
  return value;
}

/** The days of a side, as the range of the page. */
function daysOf({ start, end }: Side): PageState['range'] {
  const last = new Date(Date.parse(clockAt(end)) - 1).toISOString();
  return `${clockAt(start).slice(0, 10)}/${last.slice(0, 10)}`;
}
