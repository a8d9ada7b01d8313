/** The dashboard. */
import './page.css';
import './parts.css';
import './views.css';
import './narrow.css';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { AlertsPage } from './alerts.tsx';
import { api, ApiError, signIn, signInEvents, type Instance } from './api.ts';
import { ChangesPage } from './changes.tsx';
import { ConnectPage } from './connect.tsx';
import { Conversations } from './conversations.tsx';
import { EntityPage } from './entity.tsx';
import { CuratingContext, useDecisions } from './curating.ts';
import { LastDecision } from './curate.tsx';
import { DecisionsPage } from './decisions.tsx';
import { Chips } from './filter-bar.tsx';
import { NavigationContext, useKeys, useTitle, useUrlState, type Navigation } from './hooks.ts';
import { Overview } from './overview.tsx';
import { Go, Loading } from './parts.tsx';
import { Session } from './session.tsx';
import { Standstill } from './standstill.tsx';
import { RangeControls } from './range-controls.tsx';
import { Users } from './users.tsx';
import { showTimesIn } from './zone.ts';
import {
  BUCKETS,
  bucketsFor,
  COMPARISONS,
  isEntity,
  RANGES,
  START,
  type BucketName,
  type Comparison,
} from './state.ts';

/** How often the page asks whether something new was processed. */
const LOOK_MS = 1000;

const COMPARISON_WORDS: Readonly<Record<Comparison, string>> = {
  previous: 'vs period before',
  year: 'vs year before',
  none: 'no comparison',
};

const VIEWS = [
  ['overview', 'Overview'],
  ['changes', 'Changes'],
  ['conversations', 'Conversations'],
  ['users', 'Users'],
  ['decisions', 'Decisions'],
  ['alerts', 'Alerts'],
  ['connect', 'Connect'],
] as const;

/** Takes the key out of `#key=…`, so that it stands in no history; null: there is none. */
function takeKeyFromFragment(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get('key');
  if (given !== null) history.replaceState(null, '', `${location.pathname}${location.search}`);
  return given;
}

/** Instances that are looked into for messages. */
const LOOKED_INTO = 20;

/** The oldest instance that has a message; where none has, the oldest. */
async function firstWithMessages(instances: readonly Instance[]): Promise<Instance | undefined> {
  const some = instances.slice(0, LOOKED_INTO);
  if (some.length < 2) return some[0];
  const last = await Promise.all(some.map(({ id }) => lastProcessedAt(id).catch(() => null)));
  return some.find((_, index) => last[index] !== null) ?? some[0];
}

/** How far the views of an instance are; null: it has no message. A few rows of a rollup say it. */
async function lastProcessedAt(instanceId: string): Promise<string | null> {
  const answer = await api.query({ instanceId, groupBy: 'CSAT_DSAT', fields: 'messages', limit: 1 });
  return answer.lastProcessedAt;
}

/** As the document stands before its script runs. */
function Waiting() {
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

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, '', 'The page failed.');
}

/** Whether somebody is signed in; null: not known yet. `fault`: why a key did not open the page. */
function useSignIn(given: string | null) {
  const [isIn, setIsIn] = useState<boolean | null>(given === null ? true : null);
  const [fault, setFault] = useState<ApiError | null>(null);
  const open = (key: string): void => {
    setFault(null);
    signIn.open(key).then(
      () => setIsIn(true),
      (error: unknown) => {
        setFault(asApiError(error));
        setIsIn(false);
      },
    );
  };
  useEffect(() => {
    if (given !== null) open(given);
    const onSignedOut = (): void => setIsIn(false);
    signInEvents.addEventListener('ended', onSignedOut);
    return () => signInEvents.removeEventListener('ended', onSignedOut);
  }, []);
  return { isIn, fault, open };
}

function Page({ givenKey }: { readonly givenKey: string | null }) {
  const navigation = useUrlState();
  const { isIn, fault: refusal, open } = useSignIn(givenKey);
  const { instances, fault, enter } = useInstances(navigation, isIn === true);
  if (isIn === false) return <KeyForm fault={refusal} onKey={open} />;
  if (fault !== null) {
    return (
      <main class="narrow">
        <p class="fault" role="alert">
          {fault.message}
        </p>
        <button type="button" onClick={enter}>
          Try again
        </button>
      </main>
    );
  }
  if (instances === null) return <Waiting />;
  if (instances.length === 0) {
    return (
      <main class="narrow">
        <h1>There is no instance yet</h1>
        <p>
          An ingest request without <code>instanceId</code> makes one, and so does <code>npm run demo</code>.
        </p>
        <button type="button" onClick={enter}>
          Look again
        </button>
      </main>
    );
  }
  // A link may lead to what only others may see; the numbers of another instance would be taken for its own.
  if (!instances.some(({ id }) => id === navigation.state.instance))
    return <MissingInstance instances={instances} id={navigation.state.instance} />;
  return (
    <NavigationContext.Provider value={navigation}>
      <Dashboard instances={instances} navigation={navigation} />
    </NavigationContext.Provider>
  );
}

/** The instances of the key, asked for once there is one; the page shows one that has messages. */
function useInstances(navigation: Navigation, isIn: boolean) {
  const [instances, setInstances] = useState<readonly Instance[] | null>(null);
  const [fault, setFault] = useState<ApiError | null>(null);
  const enter = (): void => {
    setFault(null);
    api.instances().then(
      async ({ elements }) => {
        const first = navigation.state.instance === '' ? await firstWithMessages(elements) : undefined;
        if (first !== undefined) {
          history.replaceState(null, '', navigation.hrefOf({ instance: first.id }));
          dispatchEvent(new PopStateEvent('popstate'));
        }
        setInstances(elements);
      },
      (error: unknown) => setFault(asApiError(error)),
    );
  };
  useEffect(() => {
    if (isIn) enter();
    // Whoever signs in next may see others.
    else setInstances(null);
  }, [isIn]);
  return { instances, fault, enter };
}

function MissingInstance({
  instances,
  id,
}: {
  readonly instances: readonly Instance[];
  readonly id: string;
}) {
  return (
    <main class="narrow">
      <h1>You do not see this instance</h1>
      <p>
        The address names the instance <code>{id}</code>. It does not exist, or it belongs to a different
        project from the key you signed in with.
      </p>
      <p>You see:</p>
      <ul>
        {instances.map((instance) => (
          <li key={instance.id}>
            <a href={`/?instance=${instance.id}`}>{instance.name ?? instance.id}</a>
          </li>
        ))}
      </ul>
      <button type="button" class="quiet" onClick={() => void signIn.close()}>
        Sign in with another key
      </button>
    </main>
  );
}

function KeyForm({
  fault,
  onKey,
}: {
  readonly fault: ApiError | null;
  readonly onKey: (key: string) => void;
}) {
  return (
    <main class="narrow">
      <h1>Undertone</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget as HTMLFormElement).get('key');
          if (typeof given === 'string' && given.trim() !== '') onKey(given.trim());
        }}
      >
        <label for="key">API key of your project</label>
        <input id="key" name="key" type="password" autocomplete="off" spellcheck={false} required autofocus />
        <button type="submit">Open</button>
      </form>
      {fault === null ? null : (
        <p class="fault" role="alert">
          {fault.message}
        </p>
      )}
      <p class="faint">
        <code>npm run keys -- create --project NAME</code> makes a key. This browser stays signed in for 30
        days, or until you sign out or the key is revoked.
      </p>
    </main>
  );
}

interface Live {
  /** How far the views are; null: not known yet, and what is asked before it is known would be asked twice. */
  readonly version: string | null;
  readonly isOffline: boolean;
}

/** Says what changed last, and whether the service answers; looks each second while the tab is seen. */
function useLive(instanceId: string): Live {
  const [live, setLive] = useState<Live>({ version: null, isOffline: false });
  useEffect(() => {
    let timer = 0;
    let isOver = false;
    const look = async (): Promise<void> => {
      if (!document.hidden && instanceId !== '') {
        try {
          const version = (await lastProcessedAt(instanceId)) ?? '';
          if (!isOver) setLive({ version, isOffline: false });
        } catch (error) {
          const isAway = error instanceof ApiError && (error.status === 0 || error.status === 503);
          if (!isOver)
            setLive((last) => ({ version: last.version ?? '', isOffline: isAway || last.isOffline }));
        }
      }
      if (!isOver) timer = setTimeout(() => void look(), LOOK_MS) as unknown as number;
    };
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [instanceId]);
  return live;
}

function Dashboard({
  instances,
  navigation,
}: {
  readonly instances: readonly Instance[];
  readonly navigation: Navigation;
}) {
  const { state, go } = navigation;
  // Before anything below computes with it.
  showTimesIn(instances.find(({ id }) => id === state.instance)?.timeZone ?? 'UTC');
  const live = useLive(state.instance);
  const curating = useDecisions(state.instance);
  const version = `${live.version ?? ''} ${curating.edits}`;
  useKeys((pressed) => {
    const range = RANGES[Number(pressed) - 1];
    if (range !== undefined) go({ range });
    else if (pressed === 'Escape' && state.session === '') {
      // What is chosen goes first, then the page.
      if (Object.keys(state.filters).length > 0) go({ filters: {} });
      else go({ view: 'overview', id: '' });
    }
  });
  const { view } = state;
  useTitle(state.session !== '' ? null : (VIEWS.find(([name]) => name === view)?.[1] ?? null));
  return (
    <CuratingContext.Provider value={curating}>
      <a class="skip" href="#main">
        Skip to the numbers
      </a>
      <header class="bar">
        <Go to={{ ...START, instance: state.instance, range: state.range }} class="brand">
          Undertone
        </Go>
        <nav aria-label="Views">
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
          <label>
            <span class="hidden">Instance</span>
            <select
              value={state.instance}
              onChange={(event) => go({ ...START, range: state.range, instance: event.currentTarget.value })}
            >
              {instances.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name ?? id}
                </option>
              ))}
            </select>
          </label>
          <RangeControls />
          <label>
            <span class="hidden">Compare with</span>
            <select
              value={state.compare}
              onChange={(event) => go({ compare: event.currentTarget.value as Comparison })}
            >
              {COMPARISONS.map((comparison) => (
                <option key={comparison} value={comparison}>
                  {COMPARISON_WORDS[comparison]}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span class="hidden">Buckets of the trend</span>
            <select
              value={state.buckets}
              onChange={(event) => go({ buckets: event.currentTarget.value as BucketName })}
            >
              {BUCKETS.map((name) => (
                <option key={name} value={name} disabled={!bucketsFor(state.range).includes(name)}>
                  {name === 'auto' ? 'auto buckets' : `by ${name}`}
                </option>
              ))}
            </select>
          </label>
          <button type="button" class="quiet" onClick={() => void signIn.close()}>
            Sign out
          </button>
        </div>
      </header>
      {live.isOffline ? (
        <p class="notice" role="status">
          The service does not answer at the moment. The numbers are those of before; they go on by
          themselves.
        </p>
      ) : (
        <Standstill />
      )}
      <LastDecision />
      <Chips />
      <main id="main">
        {live.version === null ? (
          <Loading />
        ) : state.session !== '' ? (
          <Session version={version} />
        ) : view === 'overview' ? (
          <Overview version={version} />
        ) : view === 'conversations' ? (
          <Conversations version={version} />
        ) : view === 'changes' ? (
          <ChangesPage version={version} />
        ) : view === 'users' ? (
          <Users version={version} />
        ) : view === 'decisions' ? (
          <DecisionsPage version={version} />
        ) : view === 'alerts' ? (
          <AlertsPage />
        ) : view === 'connect' ? (
          <ConnectPage />
        ) : isEntity(view) ? (
          <EntityPage kind={view} version={version} />
        ) : null}
      </main>
    </CuratingContext.Provider>
  );
}

const root = document.getElementById('page');
if (root !== null) render(<Page givenKey={takeKeyFromFragment()} />, root);
