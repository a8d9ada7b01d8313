/** The page: who looks at it signs in, then sees the dashboard of an instance. */
import './page.css';
import './parts.css';
import './views.css';
import './narrow.css';
import { render } from 'preact';
import { Dashboard } from './dashboard.tsx';
import { KeyForm, MissingInstance, useInstances, useSignIn } from './entrance.tsx';
import { NavigationContext, useUrlState } from './hooks.ts';
import { Loading } from './parts.tsx';

/** Takes the key out of `#key=…`, so that it stands in no history; null: there is none. */
function takeKeyFromFragment(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get('key');
  if (given !== null) history.replaceState(null, '', `${location.pathname}${location.search}`);
  return given;
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

function Page({ givenKey }: { readonly givenKey: string | null }) {
  const navigation = useUrlState();
  const { isIn, fault: refusal, open } = useSignIn(givenKey);
  const { instances, fault, enter } = useInstances(navigation, isIn === true);
  if (isIn === false) return <KeyForm fault={refusal} onKey={open} />;
  if (fault !== null) return <Failed message={fault.message} onRetry={enter} />;
  if (instances === null) return <Waiting />;
  if (instances.length === 0) return <NoInstance onRetry={enter} />;
  // A link may lead to what only others may see; the numbers of another instance would be taken for its own.
  if (!instances.some(({ id }) => id === navigation.state.instance))
    return <MissingInstance instances={instances} id={navigation.state.instance} />;
  return (
    <NavigationContext.Provider value={navigation}>
      <Dashboard instances={instances} navigation={navigation} />
    </NavigationContext.Provider>
  );
}

function Failed({ message, onRetry }: { readonly message: string; readonly onRetry: () => void }) {
  return (
    <main class="narrow">
      <p class="fault" role="alert">
        {message}
      </p>
      <button type="button" onClick={onRetry}>
        Try again
      </button>
    </main>
  );
}

function NoInstance({ onRetry }: { readonly onRetry: () => void }) {
  return (
    <main class="narrow">
      <h1>There is no instance yet</h1>
      <p>
        An ingest request without <code>instanceId</code> makes one, and so does <code>npm run demo</code>.
      </p>
      <button type="button" onClick={onRetry}>
        Look again
      </button>
    </main>
  );
}

const root = document.getElementById('page');
if (root !== null) render(<Page givenKey={takeKeyFromFragment()} />, root);
