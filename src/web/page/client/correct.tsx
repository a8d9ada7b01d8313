/**
 * Corrects a conversation in place: how it ended, what a message is about, and what was found in it.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useState } from 'preact/hooks';
import { OUTCOME_WORDS, SESSION_OUTCOMES, type SessionOutcome } from '../../../domain/session-outcomes.ts';
import { truncate } from '../../../domain/truncate.ts';
import { useChoosable } from './curate.tsx';
import { useCurating } from './curating.ts';
import { Dialog, Picker } from './dialog.tsx';

/** Limit of the API, UTF-16 units. */
const MAX_TEXT = 4000;

interface Corrected {
  /** What the user wrote. */
  readonly text: string;
  readonly topic: { readonly id: string; readonly name: string } | null;
}

/** Buttons for what a message is about. What says nearly the same follows. */
export function CorrectTopic({ text, topic }: Corrected) {
  const { reason, decide } = useCurating();
  const [isOpen, setOpen] = useState(false);
  const [fault, setFault] = useState('');
  const sent = truncate(text, MAX_TEXT);
  const exclude = ({ id, name }: NonNullable<Corrected['topic']>): void => {
    setFault('');
    decide({ action: 'EXCLUDE', topicId: id, text: sent }, `This is not “${name}” any more.`).catch(
      (error: Error) => setFault(error.message),
    );
  };
  return (
    <>
      {topic === null ? null : (
        <button
          type="button"
          class="quiet"
          disabled={reason !== ''}
          title={reason || `It is not about “${topic.name}”`}
          onClick={() => exclude(topic)}
        >
          Not this
        </button>
      )}
      <button
        type="button"
        class="quiet"
        disabled={reason !== ''}
        title={reason}
        onClick={() => setOpen(true)}
      >
        Choose topic …
      </button>
      {fault === '' ? null : (
        <span class="fault" role="alert">
          {fault}
        </span>
      )}
      {isOpen ? <Belongs text={sent} topic={topic} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function Belongs({ text, topic, onClose }: Corrected & { readonly onClose: () => void }) {
  const { decide } = useCurating();
  const options = useChoosable('TOPIC', topic?.id ?? '');
  const [to, setTo] = useState('');
  const name = options?.find((option) => option.id === to)?.name ?? '';
  return (
    <Dialog
      title="What is this message about?"
      action="Count it there"
      isReady={to !== ''}
      onConfirm={() => decide({ action: 'ASSIGN', topicId: to, text }, `This belongs to “${name}” now.`)}
      onClose={onClose}
    >
      <p class="faint">
        All requests that say nearly the same, earlier ones too, count for that topic. You can undo this.
      </p>
      <Picker label="topics" options={options} chosen={to} onChoice={setTo} />
    </Dialog>
  );
}

/** What was found in a message besides its topic. */
export interface Finding {
  readonly by: 'signalId' | 'gapId' | 'repeatedRequestId';
  readonly id: string;
  readonly name: string;
}

/** A button that takes a finding out of a message. */
export function NotFound({
  position,
  finding: { by, id, name },
}: {
  readonly position: number;
  readonly finding: Finding;
}) {
  const { reason, decide } = useCurating();
  const [fault, setFault] = useState('');
  if (reason !== '') return null;
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-label={`Not ${name}`}
        title={`“${name}” is wrong here`}
        onClick={() => {
          setFault('');
          decide({ action: 'EXCLUDE', [by]: id, position }, `“${name}” does not count here any more.`).catch(
            (error: Error) => setFault(error.message),
          );
        }}
      >
        ×
      </button>
      {fault === '' ? null : (
        <span class="fault" role="alert">
          {fault}
        </span>
      )}
    </>
  );
}

/** A choice of how a conversation really ended. */
export function CorrectOutcome({
  sessionId,
  outcome,
}: {
  readonly sessionId: string;
  readonly outcome: SessionOutcome | null;
}) {
  const { reason, decide } = useCurating();
  const [fault, setFault] = useState('');
  if (reason !== '') return null;
  const say = (chosen: SessionOutcome): void => {
    setFault('');
    const words = `This conversation counts as “${OUTCOME_WORDS[chosen].label}” now.`;
    decide({ action: 'ASSIGN', sessionId, outcome: chosen }, words).catch((error: Error) =>
      setFault(error.message),
    );
  };
  return (
    <>
      {' '}
      <select
        aria-label="How it really ended"
        class="quiet"
        value=""
        onChange={({ currentTarget }) => {
          const chosen = SESSION_OUTCOMES.find((one) => one === currentTarget.value);
          currentTarget.value = '';
          if (chosen !== undefined) say(chosen);
        }}
      >
        <option value="">Correct how it ended …</option>
        {SESSION_OUTCOMES.filter((one) => one !== outcome).map((one) => (
          <option key={one} value={one} title={OUTCOME_WORDS[one].meaning}>
            {OUTCOME_WORDS[one].label}
          </option>
        ))}
      </select>
      {fault === '' ? null : (
        <span class="fault" role="alert">
          {fault}
        </span>
      )}
    </>
  );
}

/** A button that says of a message without a signal which one it shows. */
export function ShowsSignal({ position }: { readonly position: number }) {
  const { reason } = useCurating();
  const [isOpen, setOpen] = useState(false);
  if (reason !== '') return null;
  return (
    <>
      <button
        type="button"
        class="quiet"
        title="This shows satisfaction or dissatisfaction"
        onClick={() => setOpen(true)}
      >
        Add signal …
      </button>
      {isOpen ? <Shows position={position} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function Shows({ position, onClose }: { readonly position: number; readonly onClose: () => void }) {
  const { decide } = useCurating();
  const options = useChoosable('CSAT_DSAT', '');
  const [to, setTo] = useState('');
  const name = options?.find((option) => option.id === to)?.name ?? '';
  return (
    <Dialog
      title="What does this message show?"
      action="Count it"
      isReady={to !== ''}
      onConfirm={() =>
        decide({ action: 'ASSIGN', signalId: to, position }, `This message shows “${name}” now.`)
      }
      onClose={onClose}
    >
      <p class="faint">
        The signals that were found in any conversation. It counts in this message alone. You can undo this.
      </p>
      <Picker label="signals" options={options} chosen={to} onChoice={setTo} />
    </Dialog>
  );
}
