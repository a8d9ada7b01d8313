/**
 * Links to views for people without a key: the dialogs that create, list and revoke them, and the page that they open.
 *
 * Test: test/e2e/dashboard.test.ts, test/web/links.test.ts.
 */
import { useEffect, useState } from 'preact/hooks';
import { SHARED_VIEWS } from '../../../domain/shared-views.ts';
import { api, type ApiError, type ListedLink, type MadeLink, type OpenedLink } from './api.ts';
import { ChangesPage } from './changes.tsx';
import { Choice } from './choice.tsx';
import { Lines } from './connect.tsx';
import { Dialog } from './dialog.tsx';
import { EntityPage } from './entity.tsx';
import { counted, formatDay } from './format.ts';
import { NavigationContext, useAnswer, useNavigation, useTitle, type Navigation } from './hooks.ts';
import { Overview } from './overview.tsx';
import { Fault, Waiting } from './parts.tsx';
import { rangeWords } from './range-controls.tsx';
import { SATISFACTION_WORDS } from './satisfaction.tsx';
import { addressOf, isEntity, readState, START, type PageState } from './state.ts';
import { showTimesIn } from './zone.ts';

const VIEW_WORDS: Readonly<Record<(typeof SHARED_VIEWS)[number], string>> = {
  overview: 'Overview',
  changes: 'Changes',
  topic: 'Topic',
  cluster: 'Topic cluster',
  gap: 'Gap',
  repeat: 'Asked again',
  signal: 'Signal',
  label: 'Label',
};

function isShareable({ view, session }: PageState): boolean {
  return session === '' && view in VIEW_WORDS;
}

/** Returns `Topic, 7 days`, and what counts as satisfaction where it is not texts. */
function wordsOf({ view, range, signals }: PageState): string {
  const counted = signals === START.signals ? '' : `, ${SATISFACTION_WORDS[signals].choice}`;
  return `${VIEW_WORDS[view as keyof typeof VIEW_WORDS]}, ${rangeWords(range)}${counted}`;
}

/** A button that shares the current view; absent if it cannot be shared. */
export function Share({ onMade }: { readonly onMade: (link: MadeLink) => void }) {
  const { state } = useNavigation();
  const [isOpen, setOpen] = useState(false);
  if (!isShareable(state)) return null;
  return (
    <>
      <button type="button" class="quiet" onClick={() => setOpen(true)}>
        Share
      </button>
      {isOpen ? <ShareDialog onMade={onMade} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function ShareDialog({
  onMade,
  onClose,
}: {
  readonly onMade: (link: MadeLink) => void;
  readonly onClose: () => void;
}) {
  const { state } = useNavigation();
  const [days, setDays] = useState(30);
  return (
    <Dialog
      title="Share this view"
      action="Make a link"
      isReady
      onConfirm={async () => {
        const { instance, ...view } = state;
        onMade(await api.makeLink(instance, addressOf({ ...view, instance: '', segment: [] }), days));
      }}
      onClose={onClose}
    >
      {state.segment.length === 0 ? null : (
        <p>
          <strong>The link shows all conversations</strong>, not only those of the segment that you see now.
        </p>
      )}
      <p>
        Whoever has the link sees “{wordsOf(state)}” without a key, and nothing else: no conversation, no user
        and no words of users. It ends with the key that you are signed in with, or when somebody revokes it.
      </p>
      <Choice
        label="Open for"
        value={String(days)}
        options={[1, 7, 30, 90, 365].map((count) => [String(count), counted(count, 'day')])}
        onChoice={(count) => setDays(Number(count))}
      />
      <OpenLinks />
    </Dialog>
  );
}

/** Lists the project's open links. */
function OpenLinks() {
  const [edits, setEdits] = useState(0);
  const { value, error } = useAnswer('links', String(edits), (signal) => api.links(signal));
  if (error !== null) return <Fault error={error} />;
  if (value === null || value.elements.length === 0) return null;
  return (
    <>
      <h3>Open links</h3>
      <ul class="links">
        {value.elements.map((link) => (
          <OpenLink key={link.id} link={link} onRevoked={() => setEdits(edits + 1)} />
        ))}
      </ul>
    </>
  );
}

function OpenLink({ link, onRevoked }: { readonly link: ListedLink; readonly onRevoked: () => void }) {
  const [fault, setFault] = useState<ApiError | null>(null);
  const words = wordsOf(readState(link.view));
  const revoke = (): void => {
    api.revokeLink(link.id).then(onRevoked, setFault);
  };
  return (
    <li>
      {words} <span class="faint">{`by ${link.keyId}, until ${formatDay(link.endsAt)}`}</span>{' '}
      <button type="button" class="quiet" onClick={revoke}>
        Revoke<span class="hidden"> the link to {words}</span>
      </button>
      <Fault error={fault} />
    </li>
  );
}

/** Shows the address of a new link, which the API returns only once. */
export function Made({ made, onClose }: { readonly made: MadeLink; readonly onClose: () => void }) {
  return (
    <div class="notice done" role="status">
      <p>The link is made. Copy it now: it is shown this once.</p>
      <Lines lines={`${location.origin}/#link=${made.token}`} about="the link" />
      <button type="button" onClick={onClose}>
        Done
      </button>
    </div>
  );
}

const AGAIN_MS = 60_000;

/** The page of a reader with a link: its view, without links to others. */
export function SharedPage() {
  const { value, error } = useAnswer('link', '', (signal) => api.link(signal));
  if (error !== null) {
    return (
      <main class="narrow">
        <h1>This link opens nothing</h1>
        <Fault error={error} />
      </main>
    );
  }
  return value === null ? <Waiting /> : <SharedView link={value} />;
}

function SharedView({ link: { view, instance, endsAt } }: { readonly link: OpenedLink }) {
  // Set first, because everything below computes with it.
  showTimesIn(instance.timeZone);
  const version = useMinutes();
  const state = { ...readState(view), instance: instance.id };
  const navigation: Navigation = { state, isShared: true, go: () => undefined, hrefOf: () => '' };
  useTitle(VIEW_WORDS[state.view as keyof typeof VIEW_WORDS]);
  return (
    <NavigationContext.Provider value={navigation}>
      <header class="bar">
        <span class="brand">Undertone</span>
        <span>{instance.name ?? instance.id}</span>
        <span class="faint">{`${wordsOf(state)}. This link shows it until ${formatDay(endsAt)}.`}</span>
      </header>
      <main id="main">
        {isEntity(state.view) ? (
          <EntityPage kind={state.view} leaveOut={{}} version={version} />
        ) : state.view === 'changes' ? (
          <ChangesPage version={version} />
        ) : (
          <Overview leaveOut={{}} version={version} />
        )}
      </main>
    </NavigationContext.Provider>
  );
}

/** Changes each minute while the tab is visible, so that the numbers reload. */
function useMinutes(): string {
  const [minutes, setMinutes] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setMinutes((count) => count + 1);
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  return String(minutes);
}
