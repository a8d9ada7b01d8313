/** The page: who looks at it signs in, then sees the dashboard of an instance. */
import './page.css';
import './parts.css';
import './views.css';
import './narrow.css';
import { render } from 'preact';
import { showLink } from './api.ts';
import { Dashboard } from './dashboard.tsx';
import { KeyForm, MissingInstance, useInstances, useSignIn } from './entrance.tsx';
import { NavigationContext, useUrlState } from './hooks.ts';
import { Waiting } from './parts.tsx';
import { SharedPage } from './share.tsx';

/** Where the token of a link is kept, so that a reload of its tab shows it again. */
const KEPT = 'link';
/** What stands in the address in its place. */
const LINK_SHOWN = '#link';

/** Takes the token out of `#link=…`, so that it stands in no history; null: the page shows no link. */
function takeLink(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get('link');
  if (given === null || given === '')
    return location.hash === LINK_SHOWN ? (sessionStorage.getItem(KEPT) ?? '') : null;
  sessionStorage.setItem(KEPT, given);
  history.replaceState(null, '', `/${LINK_SHOWN}`);
  return given;
}

/** Takes the key out of `#key=…`, so that it stands in no history; null: there is none. */
function takeKeyFromFragment(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get('key');
  if (given !== null) history.replaceState(null, '', `${location.pathname}${location.search}`);
  return given;
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
const link = takeLink();
if (link !== null) showLink(link);
// Another link that is opened in this tab changes the fragment alone.
addEventListener('hashchange', () => {
  if (location.hash.startsWith(`${LINK_SHOWN}=`)) location.reload();
});
if (root !== null) render(link === null ? <Page givenKey={takeKeyFromFragment()} /> : <SharedPage />, root);
