/**
 * The steps before the dashboard: signing in, and selecting an instance.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useEffect, useState } from 'preact/hooks';
import { api, signIn, signInEvents, type ApiError, type Instance } from './api.ts';
import { asApiError, type Navigation } from './hooks.ts';
import { lastProcessedAt } from './live.ts';
import { Fault } from './parts.tsx';

/** Tracks the sign-in; `isIn` is null until known. `fault`: the error of a rejected key. */
export function useSignIn(given: string | null) {
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

/** Limit of instances that are checked for messages. */
const LOOKED_INTO = 20;

/** Returns the oldest instance with a message, or else the oldest. */
async function firstWithMessages(instances: readonly Instance[]): Promise<Instance | undefined> {
  const some = instances.slice(0, LOOKED_INTO);
  if (some.length < 2) return some[0];
  const last = await Promise.all(some.map(({ id }) => lastProcessedAt(id).catch(() => null)));
  return some.find((_, index) => last[index] !== null) ?? some[0];
}

/** Reads the key's instances after sign-in, and selects one with messages. */
export function useInstances(navigation: Navigation, isIn: boolean) {
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
    // The next user may see other instances.
    else setInstances(null);
  }, [isIn]);
  return { instances, fault, enter };
}

export function MissingInstance({
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

export function KeyForm({
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
      <Fault error={fault} />
      <p class="faint">
        If you have no key, ask whoever runs Undertone for you for one. Anybody who has a key can also send
        you a link to a page, made with its button <i>Share</i>; a link needs no key.
      </p>
      <p class="faint">
        Whoever runs Undertone makes a key with <code>npm run keys -- create --project NAME</code>. This
        browser stays signed in for 30 days, or until you sign out or the key is revoked.
      </p>
    </main>
  );
}
