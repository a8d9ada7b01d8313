/**
 * Checks of a number: what people said of conversations that they read, and the interval that follows.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Checked } from '../../../domain/checks.ts';
import { api, type ApiError, type ChecksResponse } from './api.ts';
import { Checking, checksOf, ENOUGH } from './checking.tsx';
import { CuratingContext, useCurating } from './curating.ts';
import { counted, formatShare, TYPE_WORDS } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { Fault, Section } from './parts.tsx';
import { usePeriod } from './period.ts';
import type { EntityKind } from './state.ts';

const OF: Readonly<Partial<Record<EntityKind, Checked>>> = {
  topic: 'TOPIC',
  signal: 'SIGNAL',
  gap: 'GAP',
  repeat: 'REPEATED_REQUEST',
  label: 'LABEL',
};

/** Conversations of one request: whoever reads quickly does not wait for more of them. */
const DRAWN = ENOUGH;

/** What is known of how sure a number is, and how to read it anew. */
interface Asked {
  readonly of: Checked;
  readonly id: string;
  /** Differs for each entity and period. */
  readonly name: string;
  /** Null until known, and where nothing can be checked. */
  readonly found: ChecksResponse | null;
  readonly error: ApiError | null;
  readonly readAgain: () => void;
}

/** Asks how sure an entity's number is, and for conversations to check; null where nothing is checked, and on a link. */
export function useChecks(kind: EntityKind, id: string): Asked | null {
  const { isShared } = useNavigation();
  const of = isShared ? undefined : OF[kind];
  const asked = useAsked(of, id);
  return of === undefined ? null : { ...asked, of };
}

function useAsked(of: Checked | undefined, id: string): Omit<Asked, 'of'> {
  // A link has nobody to decide.
  const { edits = 0 } = useContext(CuratingContext) ?? {};
  const period = usePeriod();
  const [given, setGiven] = useState(0);
  const name = `checks ${of} ${id} ${period.name}`;
  // Not with each message that arrives: a draw orders all conversations of the period.
  const { value, error } = useAnswer(name, `${edits} ${given}`, async (signal) =>
    of === undefined
      ? null
      : api.checks({ instanceId: period.instance, of, id, ...period.range, limit: DRAWN }, signal),
  );
  return { id, name, found: value, error, readAgain: () => setGiven((count) => count + 1) };
}

/** Checks of all gaps of a type. */
export function ChecksOfGapType({ type }: { readonly type: 'TOOL' | 'KNOWLEDGE' }) {
  const title = `How sure are all gaps of ${TYPE_WORDS[type]}?`;
  return <ChecksOf of="GAP_TYPE" id={type} title={title} />;
}

export function ChecksOf({
  of,
  id,
  about = '',
  title = 'How sure is this?',
}: {
  readonly of: Checked;
  readonly id: string;
  readonly about?: string;
  readonly title?: string;
}) {
  return <Checks asked={{ ...useAsked(of, id), of }} about={about} title={title} />;
}

/** `about`: what counts as it, in a sentence or by examples; '' if nothing says so. */
export function Checks({
  asked: { found, error, name, readAgain },
  about,
  title = 'How sure is this?',
}: {
  readonly asked: Asked;
  readonly about: string;
  readonly title?: string;
}) {
  const { reason } = useCurating();
  const [isOpen, setOpen] = useState(false);
  if (found === null || found.foundShare === null)
    return error === null || error.status === 404 ? null : <Fault error={error} />;
  return (
    <Section
      title={title}
      action={
        <button type="button" disabled={reason !== ''} title={reason} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Stop checking' : 'Check'}
        </button>
      }
    >
      <Estimate found={found} />
      {error === null ? null : <Fault error={error} />}
      <SecondReader second={found.secondReader} />
      {isOpen ? (
        <Checking key={name} found={found} about={about} onSaid={readAgain} onStop={() => setOpen(false)} />
      ) : null}
    </Section>
  );
}

/** Says beside a number how sure it is, and leads to the element with the id `to`, which has its checks. */
export function HowSure({ asked: { found }, to }: { readonly asked: Asked; readonly to: string }) {
  if (found === null || found.foundShare === null) return null;
  const { share } = found;
  return (
    <button
      type="button"
      class="quiet how-sure"
      title={share === null ? 'Not enough of it has been checked' : CONFIDENCE}
      onClick={() => showChecks(to)}
    >
      {share === null ? 'How sure is this?' : `truly ${formatShare(share.low)} to ${formatShare(share.high)}`}
    </button>
  );
}

function showChecks(id: string): void {
  const section = document.querySelector(`#${id}`);
  section?.scrollIntoView({ block: 'center' });
  section?.querySelector('button')?.focus({ preventScroll: true });
}

/** Scrolls to the element with the id `to` once its checks show, where the address asks for that. */
export function useShownChecks(asked: Asked | null, to: string): void {
  const { at } = useNavigation().state;
  const isShown = (asked?.found?.foundShare ?? null) !== null;
  useEffect(() => {
    if (at === 'check' && isShown) showChecks(to);
  }, [at, isShown]);
}

const CONFIDENCE = 'With a confidence of 95 %, the true share lies between the two';

function Estimate({ found: all }: { readonly found: ChecksResponse }) {
  const { foundShare, share, found, notFound } = all;
  const checks = checksOf(all);
  const unsure = found.unsure + notFound.unsure;
  if (checks + unsure === 0)
    return (
      <p class="faint">
        Nobody has checked this number yet. Read up to {ENOUGH} conversations, some that count and some that
        do not, and answer the question for each. Then you see here how large the share truly is, with a
        confidence of 95 %.
      </p>
    );
  return (
    <p>
      Found in <strong>{formatShare(foundShare ?? 0)}</strong> of conversations
      {share === null ? (
        ''
      ) : (
        <span title={CONFIDENCE}>
          {' '}
          · truly in {formatShare(share.low)} to {formatShare(share.high)}
        </span>
      )}{' '}
      · {counted(checks, 'conversation')} checked
      {found.share === null ? null : (
        <span class="faint">
          {' '}
          · right in {found.yes} of {found.yes + found.no} found
        </span>
      )}
      {notFound.yes + notFound.no === 0 ? null : (
        <span class="faint">
          {' '}
          · missed in {notFound.yes} of {notFound.yes + notFound.no} others
        </span>
      )}
      {unsure === 0 ? null : <span class="faint"> · {unsure} could not be told</span>}
      {all.uncounted === 0 ? null : (
        <span class="faint" title="Each period and segment has a random sample of its own.">
          {' '}
          · {counted(all.uncounted, 'verdict')} on conversations that were not drawn for this period and
          segment {all.uncounted === 1 ? 'does' : 'do'} not count here
        </span>
      )}
    </p>
  );
}

/** How far a language model that judged the same conversations agrees with people. */
function SecondReader({ second }: { readonly second: ChecksResponse['secondReader'] }) {
  if (second === null || second.both === 0) return null;
  return (
    <p class="faint">
      A second reader, {second.model}, agrees with people on {second.agreed} of {second.both}.
    </p>
  );
}
