/**
 * The entry point of the page: signs the reader in and shows the dashboard, or shows the view of a link.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import './page.css';
import './parts.css';
import './views.css';
import './narrow.css';
import { render } from 'preact';
import { showLink, type ApiError } from './api.ts';
import { Dashboard } from './dashboard.tsx';
import { KeyForm, MissingInstance, useInstances, useSignIn } from './entrance.tsx';
import { NavigationContext, useUrlState } from './hooks.ts';
import { Fault, Waiting } from './parts.tsx';
import { SharedPage } from './share.tsx';

/** Key in the session storage of a link's token, so that a reload of the tab shows it again. */
const KEPT = 'link';
/** Replaces the token in the address. */
const LINK_FRAGMENT = '#link';

/** Takes the token out of `#link=…`, so that it is in no history; null if the page shows no link. */
function takeLink(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get('link');
  if (given === null || given === '')
    return location.hash === LINK_FRAGMENT ? (sessionStorage.getItem(KEPT) ?? '') : null;
  sessionStorage.setItem(KEPT, given);
  history.replaceState(null, '', `/${LINK_FRAGMENT}`);
  return given;
}

/** Takes the key out of `#key=…`, so that it is in no history; null without one. */
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
  if (fault !== null) return <Failed error={fault} onRetry={enter} />;
  if (instances === null) return <Waiting />;
  if (instances.length === 0) return <NoInstance onRetry={enter} />;
  // The URL may name an instance that this user cannot see. Showing another one would present wrong numbers.
  if (!instances.some(({ id }) => id === navigation.state.instance))
    return <MissingInstance instances={instances} id={navigation.state.instance} />;
  return (
    <NavigationContext.Provider value={navigation}>
      <Dashboard instances={instances} navigation={navigation} />
    </NavigationContext.Provider>
  );
}

function Failed({ error, onRetry }: { readonly error: ApiError; readonly onRetry: () => void }) {
  return (
    <main class="narrow">
      <Fault error={error} />
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
// Opening another link in this tab changes only the fragment.
addEventListener('hashchange', () => {
  if (location.hash.startsWith(`${LINK_FRAGMENT}=`)) location.reload();
});
if (root !== null) render(link === null ? <Page givenKey={takeKeyFromFragment()} /> : <SharedPage />, root);
