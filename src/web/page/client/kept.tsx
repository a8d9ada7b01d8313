/**
 * The form for an instance's retention and masking.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useContext, useState } from 'preact/hooks';
import { api, type Masking, type RetentionAnswer } from './api.ts';
import { ErasingContext } from './erasing.ts';
import { formatInstant } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { runWords, warningsOf, type KeptDays } from './kept-words.ts';
import { Fault, Section } from './parts.tsx';

const FIELDS: readonly (readonly [name: KeptDays, words: string])[] = [
  ['textDays', 'Texts, titles and summaries go after'],
  ['peopleDays', 'Names of users go after'],
  ['countDays', 'Messages no longer count after'],
];

/** Shown only if the key may erase. */
export function Kept() {
  const erasing = useContext(ErasingContext);
  const { state } = useNavigation();
  if (erasing?.reason !== '') return null;
  return <KeptOf key={state.instance} instance={state.instance} />;
}

function KeptOf({ instance }: { readonly instance: string }) {
  const [saved, setSaved] = useState(0);
  const retention = useAnswer('retention', `${instance} ${saved}`, (signal) =>
    api.retention(instance, signal),
  );
  const masking = useAnswer('masking', `${instance} ${saved}`, (signal) => api.masking(instance, signal));
  const fault = retention.error ?? masking.error;
  return (
    <Section title="What is kept">
      {fault === null ? null : <Fault error={fault} />}
      {retention.value === null ? null : (
        <Days
          key={`days ${saved}`}
          instance={instance}
          kept={retention.value}
          onSaved={() => setSaved(saved + 1)}
        />
      )}
      {masking.value === null ? null : (
        <Hidden
          key={`hidden ${saved}`}
          instance={instance}
          masking={masking.value}
          onSaved={() => setSaved(saved + 1)}
        />
      )}
    </Section>
  );
}

function Days({
  instance,
  kept,
  onSaved,
}: {
  readonly instance: string;
  readonly kept: RetentionAnswer;
  readonly onSaved: () => void;
}) {
  const [days, setDays] = useState<Readonly<Record<KeptDays, number | null>>>(kept);
  const [isAsked, setIsAsked] = useState(false);
  const [fault, setFault] = useState('');
  const { keepAtLeastDays, lastRun } = kept;
  const isSame = FIELDS.every(([name]) => days[name] === kept[name]);
  const warnings = warningsOf(days, kept);
  const save = (event: Event): void => {
    event.preventDefault();
    // Removed data cannot be restored, so shorter periods need a second click.
    if (warnings.length > 0 && !isAsked) return setIsAsked(true);
    const { textDays, peopleDays, countDays } = days;
    api
      .setRetention(instance, { textDays, peopleDays, countDays, keepAtLeastDays })
      .then(onSaved, (error: Error) => setFault(error.message));
  };
  return (
    <form onSubmit={save}>
      {FIELDS.map(([name, words]) => (
        <p key={name}>
          <label>
            {words}{' '}
            <input
              type="number"
              min={keepAtLeastDays ?? 1}
              max={36_500}
              size={6}
              value={days[name] ?? ''}
              onInput={({ currentTarget: { value } }) => {
                setIsAsked(false);
                setDays({ ...days, [name]: value === '' ? null : Number(value) });
              }}
            />{' '}
            days
          </label>
        </p>
      ))}
      {isAsked ? (
        <p role="alert">
          {warnings.join(' ')} It begins within a minute, and what is gone does not come back.{' '}
          <button type="submit">Let it go</button>{' '}
          <button type="button" onClick={() => setIsAsked(false)}>
            Cancel
          </button>
        </p>
      ) : (
        <button type="submit" disabled={isSame}>
          Save days
        </button>
      )}
      <p class="faint" role="status">
        {fault === '' ? 'An empty field means for ever. Numbers stay exact when texts and names go.' : fault}
      </p>
      {lastRun === null ? null : (
        <p class="faint">
          {runWords({ ...lastRun, at: formatInstant(lastRun.doneAt ?? lastRun.startedAt) })}
        </p>
      )}
    </form>
  );
}

function Hidden({
  instance,
  masking,
  onSaved,
}: {
  readonly instance: string;
  readonly masking: Masking;
  readonly onSaved: () => void;
}) {
  const [hides, setHides] = useState(masking);
  const [fault, setFault] = useState('');
  const save = (event: Event): void => {
    event.preventDefault();
    api.setMasking(instance, hides).then(onSaved, (error: Error) => setFault(error.message));
  };
  return (
    <form onSubmit={save}>
      <p>
        <label>
          <input
            type="checkbox"
            checked={hides.texts}
            onInput={(event) => setHides({ ...hides, texts: event.currentTarget.checked })}
          />{' '}
          Personal data in texts is replaced before it is stored, by placeholders such as [EMAIL_48213]
        </label>
      </p>
      <p>
        <label>
          <input
            type="checkbox"
            checked={hides.userIds === 'digest'}
            onInput={(event) =>
              setHides({ ...hides, userIds: event.currentTarget.checked ? 'digest' : 'asSent' })
            }
          />{' '}
          Names of users are replaced by digests
        </label>
      </p>
      <button type="submit" disabled={hides.texts === masking.texts && hides.userIds === masking.userIds}>
        Save
      </button>
      <p class="faint" role="status">
        {fault === ''
          ? 'It holds for what is sent from now on. Rules find most personal data, and not all of it.'
          : fault}
      </p>
    </form>
  );
}
