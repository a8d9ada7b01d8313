/**
 * The forms for the retention of an instance and its project, and for the instance's masking.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useContext, useState } from 'preact/hooks';
import { api, type Masking, type ProjectRetentionAnswer, type RetentionAnswer } from './api.ts';
import { ErasingContext } from './erasing.ts';
import { formatInstant } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { runWords, warningsOf, type Days, type KeptDays } from './kept-words.ts';
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
  const project = useAnswer('project retention', `${saved}`, (signal) => api.projectRetention(signal));
  // Who sees some instances only may set nothing for all.
  const isOfProject = project.error?.status !== 403;
  const fault = retention.error ?? masking.error ?? (isOfProject ? project.error : null);
  // A last answer stays while the next one loads. So the key of each form is its answer: it begins anew with the next.
  return (
    <Section title="What is kept">
      {fault === null ? null : <Fault error={fault} />}
      {retention.value === null || (isOfProject && project.value === null) ? null : (
        <Retaining
          instance={instance}
          own={retention.value}
          project={project.value}
          onSaved={() => setSaved(saved + 1)}
        />
      )}
      {masking.value === null ? null : (
        <Hidden
          key={`hidden ${JSON.stringify(masking.value)}`}
          instance={instance}
          masking={masking.value}
          onSaved={() => setSaved(saved + 1)}
        />
      )}
    </Section>
  );
}

/** `project`: null if the caller may not set it. */
function Retaining({
  instance,
  own,
  project,
  onSaved,
}: {
  readonly instance: string;
  readonly own: RetentionAnswer;
  readonly project: ProjectRetentionAnswer | null;
  readonly onSaved: () => void;
}) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const isOfAll = project !== null && (chosen ?? own.from === 'PROJECT');
  const choice = (words: string, all: boolean) => (
    <label>
      <input type="radio" name="kept" checked={isOfAll === all} onChange={() => setChosen(all)} /> {words}
    </label>
  );
  const choices = (
    <p role="radiogroup" aria-label="Days hold for">
      {choice('All instances of this project', true)} {choice('This instance', false)}
    </p>
  );
  const shared = { lastRun: own.lastRun, onSaved };
  return (
    <>
      {project === null ? null : choices}
      {isOfAll ? (
        <DaysForm
          key={`project ${JSON.stringify(project)}`}
          {...shared}
          kept={project}
          least={project.keepAtLeastDays}
          save={(days) => api.setProjectRetention(days)}
          about="In all instances of this project that have no days of their own: "
          note={own.from === 'INSTANCE' ? 'This instance has days of its own, which hold here.' : ''}
        />
      ) : (
        <DaysForm
          key={`instance ${JSON.stringify(own)}`}
          {...shared}
          kept={own}
          least={Math.max(own.keepAtLeastDays ?? 1, project?.keepAtLeastDays ?? 1)}
          save={(days) => api.setRetention(instance, days)}
          isNew={own.from === 'PROJECT'}
          note={own.from === 'PROJECT' ? 'The days of the project hold here until you save others.' : ''}
          {...(own.from === 'INSTANCE' && project !== null
            ? { former: { days: project, take: () => api.resetRetention(instance) } }
            : {})}
        />
      )}
    </>
  );
}

/** A change of days, which may need a second click. */
interface Change {
  readonly days: Days;
  readonly make: () => Promise<unknown>;
}

function DaysForm({
  kept,
  least,
  lastRun,
  save,
  onSaved,
  isNew = false,
  former,
  about = '',
  note,
}: {
  readonly kept: Days;
  /** Least days; null: 1. */
  readonly least: number | null;
  readonly lastRun: RetentionAnswer['lastRun'];
  readonly save: (days: Days) => Promise<unknown>;
  readonly onSaved: () => void;
  /** The days were set elsewhere, so that equal ones can be saved here. */
  readonly isNew?: boolean;
  /** Days of the project that hold again once those of the instance are given up. */
  readonly former?: { readonly days: Days; readonly take: () => Promise<unknown> };
  /** Opens the warning. */
  readonly about?: string;
  readonly note: string;
}) {
  const [days, setDays] = useState<Days>(kept);
  const [asked, setAsked] = useState<Change | null>(null);
  const [fault, setFault] = useState('');
  const isSame = !isNew && FIELDS.every(([name]) => days[name] === kept[name]);
  const { textDays, peopleDays, countDays } = days;
  const change = (wanted: Change): void => {
    // Removed data cannot be restored, so shorter periods need a second click.
    if (asked === null && warningsOf(wanted.days, kept).length > 0) return setAsked(wanted);
    void wanted.make().then(
      () => {
        setAsked(null);
        onSaved();
      },
      (error: Error) => setFault(error.message),
    );
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    change(asked ?? { days, make: () => save({ textDays, peopleDays, countDays }) });
  };
  return (
    <form onSubmit={submit}>
      {FIELDS.map(([name, words]) => (
        <p key={name}>
          <label>
            {words}{' '}
            <input
              type="number"
              min={least ?? 1}
              max={36_500}
              size={6}
              value={days[name] ?? ''}
              onInput={({ currentTarget: { value } }) => {
                setAsked(null);
                setDays({ ...days, [name]: value === '' ? null : Number(value) });
              }}
            />{' '}
            days
          </label>
        </p>
      ))}
      {asked === null ? (
        <>
          <button type="submit" disabled={isSame}>
            Save days
          </button>{' '}
          {former === undefined ? null : (
            <button type="button" onClick={() => change({ days: former.days, make: former.take })}>
              Take the days of the project
            </button>
          )}
        </>
      ) : (
        <p role="alert">
          {about}
          {warningsOf(asked.days, kept).join(' ')} It begins within a minute, and what is gone does not come
          back. <button type="submit">Let it go</button>{' '}
          <button type="button" onClick={() => setAsked(null)}>
            Cancel
          </button>
        </p>
      )}
      <p class="faint" role="status">
        {fault === ''
          ? `${note} An empty field means for ever. Numbers stay exact when texts and names go.`
          : fault}
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
