/**
 * The header of all views: navigation, instance, period, comparison and buckets.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useEffect, useRef } from 'preact/hooks';
import { signIn, type Instance, type MadeLink } from './api.ts';
import { Choice } from './choice.tsx';
import { useNavigation } from './hooks.ts';
import { Go } from './parts.tsx';
import { RangeControls } from './range-controls.tsx';
import { SatisfactionChoice } from './satisfaction.tsx';
import { SegmentChoice } from './segments.tsx';
import { Share } from './share.tsx';
import {
  BUCKETS,
  bucketsFor,
  COMPARISONS,
  comparisonsFor,
  earlierOf,
  START,
  type Comparison,
  type RangeName,
} from './state.ts';
import { clockNow } from './zone.ts';

function comparisonWords(compare: Comparison, range: RangeName): string {
  return compare === 'none' ? 'no comparison' : `vs ${earlierOf(range, compare, clockNow()).name}`;
}

/** The views in the navigation, with their names. */
export const VIEWS = [
  ['overview', 'Overview'],
  ['changes', 'Changes'],
  ['conversations', 'Conversations'],
  ['users', 'Users'],
  ['decisions', 'Decisions'],
  ['alerts', 'Alerts'],
  ['connect', 'Connect'],
] as const;

export function Header({
  instances,
  onShared,
}: {
  readonly instances: readonly Instance[];
  readonly onShared: (link: MadeLink) => void;
}) {
  const { state } = useNavigation();
  const views = useRef<HTMLElement>(null);
  // On a phone, the line of views scrolls.
  useEffect(() => {
    const { current } = views;
    const link = current?.querySelector<HTMLElement>('[aria-current]');
    if (current == null || link == null) return;
    current.scrollLeft = link.offsetLeft - (current.clientWidth - link.offsetWidth) / 2;
  }, [state.view, state.session]);
  return (
    <header class="bar">
      <Go to={{ ...START, instance: state.instance, range: state.range }} class="brand">
        Undertone
      </Go>
      <nav aria-label="Views" ref={views}>
        {VIEWS.map(([view, words]) => (
          <Go
            key={view}
            to={{ view, id: '', session: '', filters: {} }}
            current={state.view === view && state.session === ''}
          >
            {words}
          </Go>
        ))}
      </nav>
      <div class="controls">
        <InstanceChoice instances={instances} />
        <SegmentChoice />
        <SatisfactionChoice />
        <RangeControls />
        <ComparisonChoice />
        <BucketChoice />
        <Share onMade={onShared} />
        <button type="button" class="quiet" onClick={() => void signIn.close()}>
          Sign out
        </button>
      </div>
    </header>
  );
}

function InstanceChoice({ instances }: { readonly instances: readonly Instance[] }) {
  const { state, go } = useNavigation();
  return (
    <Choice
      label="Instance"
      isInBar
      value={state.instance}
      options={instances.map(({ id, name }) => [id, name ?? id])}
      onChoice={(instance) => go({ ...START, range: state.range, instance })}
    />
  );
}

function ComparisonChoice() {
  const { state, go } = useNavigation();
  const possible = comparisonsFor(state.range);
  return (
    <Choice
      label="Compare with"
      isInBar
      value={possible.includes(state.compare) ? state.compare : 'none'}
      options={COMPARISONS.map((value) => [
        value,
        comparisonWords(value, state.range),
        possible.includes(value),
      ])}
      onChoice={(compare) => go({ compare })}
    />
  );
}

function BucketChoice() {
  const { state, go } = useNavigation();
  const possible = bucketsFor(state.range);
  return (
    <Choice
      label="Interval of the trend"
      isInBar
      value={state.buckets}
      options={BUCKETS.map((value) => [
        value,
        value === 'auto' ? 'auto interval' : `by ${value}`,
        possible.includes(value),
      ])}
      onChoice={(buckets) => go({ buckets })}
    />
  );
}
