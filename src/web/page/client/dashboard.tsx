/**
 * The dashboard of one instance: its header, notices, and the view that the URL names.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { AlertsPage } from './alerts.tsx';
import { useState } from 'preact/hooks';
import type { Instance, MadeLink } from './api.ts';
import { ChangesPage } from './changes.tsx';
import { ConnectPage } from './connect.tsx';
import { Conversations } from './conversations.tsx';
import { LastDecision } from './curate.tsx';
import { CuratingContext, useDecisions } from './curating.ts';
import { DecisionsPage } from './decisions.tsx';
import { EntityPage } from './entity.tsx';
import { LastErasure } from './erase.tsx';
import { ErasingContext, useErasing } from './erasing.ts';
import { Chips } from './filter-bar.tsx';
import { Header, VIEWS } from './header.tsx';
import { useKey, useKeys, useTitle, type Navigation } from './hooks.ts';
import { useLive } from './live.ts';
import { Overview } from './overview.tsx';
import { Loading } from './parts.tsx';
import { SegmentChips } from './segments.tsx';
import { Session } from './session.tsx';
import { Made } from './share.tsx';
import { Standstill } from './standstill.tsx';
import { isEntity, RANGES, type PageState } from './state.ts';
import { Users } from './users.tsx';
import { showTimesIn } from './zone.ts';

export function Dashboard({
  instances,
  navigation,
}: {
  readonly instances: readonly Instance[];
  readonly navigation: Navigation;
}) {
  const { state } = navigation;
  // Set first, because everything below computes with it.
  const instance = instances.find(({ id }) => id === state.instance);
  showTimesIn(instance?.timeZone ?? 'UTC');
  const [made, setMade] = useState<MadeLink | null>(null);
  const live = useLive(state.instance);
  const scopes = useKey()?.scopes ?? null;
  const curating = useDecisions(state.instance, scopes);
  const erasing = useErasing(state.instance, scopes);
  useShortcuts(navigation);
  useTitle(state.session !== '' ? null : (VIEWS.find(([view]) => view === state.view)?.[1] ?? null));
  return (
    <CuratingContext.Provider value={curating}>
      <ErasingContext.Provider value={erasing}>
        <a class="skip" href="#main">
          Skip to the numbers
        </a>
        <Header instances={instances} onShared={setMade} />
        {made === null ? null : <Made made={made} onClose={() => setMade(null)} />}
        {live.isOffline ? <Offline /> : <Standstill />}
        <LastDecision />
        <LastErasure />
        <SegmentChips leaveOut={instance?.leaveOut ?? {}} />
        <Chips />
        <main id="main">
          {live.version === null ? (
            <Loading />
          ) : (
            <View
              state={state}
              version={`${live.version} ${curating.edits} ${erasing.edits}`}
              instances={instances}
            />
          )}
        </main>
      </ErasingContext.Provider>
    </CuratingContext.Provider>
  );
}

/** Digits select the period. Escape clears the filters, then opens the overview. */
function useShortcuts({ state, go }: Navigation): void {
  useKeys((pressed) => {
    const range = RANGES[Number(pressed) - 1];
    if (range !== undefined) go({ range });
    else if (pressed === 'Escape' && state.session === '') {
      if (Object.keys(state.filters).length > 0) go({ filters: {} });
      else go({ view: 'overview', id: '' });
    }
  });
}

function Offline() {
  return (
    <p class="notice" role="status">
      The service does not answer at the moment. The numbers are those of before; they go on by themselves.
    </p>
  );
}

function View({
  state: { session, view, instance },
  version,
  instances,
}: {
  readonly state: PageState;
  readonly version: string;
  readonly instances: readonly Instance[];
}) {
  const own = instances.find(({ id }) => id === instance);
  const leaveOut = own?.leaveOut ?? {};
  if (session !== '') return <Session version={version} />;
  if (isEntity(view)) return <EntityPage kind={view} leaveOut={leaveOut} version={version} />;
  switch (view) {
    case 'overview':
      return <Overview leaveOut={leaveOut} version={version} />;
    case 'conversations':
      return <Conversations version={version} />;
    case 'changes':
      return <ChangesPage version={version} instanceName={own?.name ?? instance} />;
    case 'users':
      return <Users version={version} />;
    case 'decisions':
      return <DecisionsPage version={version} />;
    case 'alerts':
      return <AlertsPage instanceName={own?.name ?? instance} />;
    case 'connect':
      return <ConnectPage instances={instances} />;
    default:
      return view satisfies never;
  }
}
