/**
 * The forms for the retention of an instance and its project, and for the instance's masking.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useContext, useEffect, useState } from 'preact/hooks';
import { MOST_RETENTION_DAYS } from '../../../domain/retention.ts';
import { api, type Masking, type ProjectRetentionAnswer, type RetentionAnswer } from './api.ts';
import { ErasingContext, LOOK_MS } from './erasing.ts';
import { formatInstant } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { giveUpWords, keptNote, runWords, warningOf, type Days, type KeptDays } from './kept-words.ts';
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

/** The form that was saved last. */
type Saved = 'PROJECT' | 'INSTANCE' | 'MASKING' | null;

function KeptOf({ instance }: { readonly instance: string }) {
  const [saved, setSaved] = useState<{ readonly form: Saved; readonly count: number }>({
    form: null,
    count: 0,
  });
  const { looks, follow } = useLooks();
  const retention = useAnswer('retention', `${instance} ${saved.count} ${looks}`, (signal) =>
    api.retention(instance, signal),
  );
  const masking = useAnswer('masking', `${instance} ${saved.count}`, (signal) =>
    api.masking(instance, signal),
  );
  const project = useAnswer('project retention', `${saved.count}`, (signal) => api.projectRetention(signal));
  const lastRun = retention.value?.lastRun ?? null;
  useEffect(() => follow(lastRun), [lastRun, looks]);
  const save = (form: Saved): void => {
    setSaved({ form, count: saved.count + 1 });
    if (form !== 'MASKING') follow(lastRun, 'SAVED');
  };
  // Who sees some instances only may set nothing for all.
  const isOfProject = project.error?.status !== 403;
  const fault = retention.error ?? masking.error ?? (isOfProject ? project.error : null);
  // A last answer stays while the next one loads. So the key of each form is its answer: it begins anew with the next.
  return (
    <Section title="What is kept">
      <Fault error={fault} />
      {retention.value === null || (isOfProject && project.value === null) ? null : (
        <Retaining
          instance={instance}
          own={retention.value}
          project={project.value}
          saved={saved.form}
          onSaved={save}
        />
      )}
      {masking.value === null ? null : (
        <Hidden
          key={`hidden ${JSON.stringify(masking.value)}`}
          instance={instance}
          masking={masking.value}
          isSaved={saved.form === 'MASKING'}
          onSaved={() => save('MASKING')}
        />
      )}
    </Section>
  );
}

type Run = RetentionAnswer['lastRun'];

/** A run that saved days start begins within a minute; none begins if nothing is old enough. */
const BEGINS_MS = 75_000;

/** Counts looks at the last run: one a second or so while it runs, and after a save until the next one is done. */
function useLooks(): { readonly looks: number; readonly follow: (run: Run, why?: 'SAVED') => void } {
  const [looks, setLooks] = useState(0);
  const [former, setFormer] = useState<{ readonly startedAt: string | null; readonly until: number } | null>(
    null,
  );
  const [run, setRun] = useState<Run>(null);
  const isExpected = former !== null && (run?.startedAt ?? null) === former.startedAt;
  const isRunning = run !== null && run.doneAt === null;
  useEffect(() => {
    if (!isRunning && !isExpected) return;
    const timer = setTimeout(() => {
      if (!isRunning && former !== null && Date.now() > former.until) setFormer(null);
      else setLooks(looks + 1);
    }, 2 * LOOK_MS);
    return () => clearTimeout(timer);
  }, [looks, run, former]);
  const follow = (last: Run, why?: 'SAVED'): void => {
    setRun(last);
    if (why === 'SAVED') setFormer({ startedAt: last?.startedAt ?? null, until: Date.now() + BEGINS_MS });
  };
  return { looks, follow };
}

/** `project`: null if the caller may not set it. */
function Retaining({
  instance,
  own: { lastRun, ...own },
  project,
  saved,
  onSaved,
}: {
  readonly instance: string;
  readonly own: RetentionAnswer;
  readonly project: ProjectRetentionAnswer | null;
  readonly saved: Saved;
  readonly onSaved: (form: 'PROJECT' | 'INSTANCE') => void;
}) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const isOfAll = project !== null && (chosen ?? own.from === 'PROJECT');
  const choice = (words: string, all: boolean) => (
    <label>
      <input type="radio" name="kept" checked={isOfAll === all} onChange={() => setChosen(all)} /> {words}
    </label>
  );
  const choices = (
    <p role="radiogroup" class="choices" aria-label="Days hold for">
      {choice('All instances of this project', true)} {choice('This instance', false)}
    </p>
  );
  const save = (form: 'PROJECT' | 'INSTANCE') => (): void => {
    setChosen(form === 'PROJECT');
    onSaved(form);
  };
  return (
    <>
      {project === null ? null : choices}
      {isOfAll ? (
        <DaysForm
          key={`project ${JSON.stringify(project)}`}
          lastRun={lastRun}
          kept={project}
          least={project.keepAtLeastDays}
          save={(days) => api.setProjectRetention(days)}
          where="ALL"
          isSaved={saved === 'PROJECT'}
          onSaved={save('PROJECT')}
          note={own.from === 'INSTANCE' ? 'This instance has days of its own, which hold here.' : ''}
        />
      ) : (
        <DaysForm
          key={`instance ${JSON.stringify(own)}`}
          lastRun={lastRun}
          kept={own}
          least={Math.max(own.keepAtLeastDays ?? 1, project?.keepAtLeastDays ?? 1)}
          save={(days) => api.setRetention(instance, days)}
          where="OWN"
          isSaved={saved === 'INSTANCE'}
          onSaved={save('INSTANCE')}
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

/** A change of days that waits for a second click. */
interface Change {
  readonly words: string;
  /** True if something is removed. */
  readonly removes: boolean;
  readonly make: () => Promise<unknown>;
}

function DaysForm({
  kept,
  least,
  lastRun,
  save,
  where,
  isSaved,
  onSaved,
  isNew = false,
  former,
  note,
}: {
  readonly kept: Days;
  /** Least days; null: 1. */
  readonly least: number | null;
  readonly lastRun: RetentionAnswer['lastRun'];
  readonly save: (days: Days) => Promise<unknown>;
  /** The instances that the days hold for. */
  readonly where: 'ALL' | 'OWN';
  /** These days are those that were saved here last. */
  readonly isSaved: boolean;
  readonly onSaved: () => void;
  /** The days were set elsewhere, so that equal ones can be saved here. */
  readonly isNew?: boolean;
  /** Days of the project that hold again once those of the instance are given up. */
  readonly former?: { readonly days: Days; readonly take: () => Promise<unknown> };
  readonly note: string;
}) {
  const [days, setDays] = useState<Days>(kept);
  const [asked, setAsked] = useState<Change | null>(null);
  const [fault, setFault] = useState('');
  const isUnchanged = FIELDS.every(([name]) => days[name] === kept[name]);
  const isSame = !isNew && isUnchanged;
  const { textDays, peopleDays, countDays } = days;
  const make = (change: () => Promise<unknown>): void => {
    setFault('');
    // The question stays until the new answer, with which the form begins anew.
    void change().then(onSaved, (error: Error) => setFault(error.message));
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (asked !== null) return make(asked.make);
    const change = () => save({ textDays, peopleDays, countDays });
    // Removed data cannot be restored, so shorter periods need a second click.
    const words = warningOf(days, kept, where);
    if (words === '') make(change);
    else setAsked({ words, removes: true, make: change });
  };
  const takeProjects = ({ days: projects, take }: NonNullable<typeof former>): void => {
    const removes = warningOf(projects, kept, 'OWN') !== '';
    setAsked({ words: giveUpWords(kept, projects), removes, make: take });
  };
  return (
    <form onSubmit={submit}>
      {FIELDS.map(([name, words]) => (
        <p key={name}>
          <label>
            {words}{' '}
            <span class="unbroken">
              <input
                type="number"
                min={least ?? 1}
                max={MOST_RETENTION_DAYS}
                size={6}
                value={days[name] ?? ''}
                onInput={({ currentTarget: { value } }) => {
                  setAsked(null);
                  setDays({ ...days, [name]: value === '' ? null : Number(value) });
                }}
              />{' '}
              days
            </span>
          </label>
        </p>
      ))}
      {/* Keys, because a button that became the submit button within its click would submit. */}
      {asked === null ? (
        <p key="save">
          <button type="submit" disabled={isSame}>
            Save days
          </button>{' '}
          {former === undefined ? null : (
            <button type="button" onClick={() => takeProjects(former)}>
              Take the days of the project
            </button>
          )}{' '}
          <span role="status">{isSaved && isUnchanged ? 'Saved.' : ''}</span>
        </p>
      ) : (
        <p key="asked" role="alert">
          {asked.words} <button type="submit">{asked.removes ? 'Remove and save' : 'Save'}</button>{' '}
          <button type="button" onClick={() => setAsked(null)}>
            Cancel
          </button>
        </p>
      )}
      <p class="faint" role="status">
        {fault === '' ? `${note} ${keptNote(days)}` : fault}
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
  isSaved,
  onSaved,
}: {
  readonly instance: string;
  readonly masking: Masking;
  readonly isSaved: boolean;
  readonly onSaved: () => void;
}) {
  const [hides, setHides] = useState(masking);
  const isSame = hides.texts === masking.texts && hides.userIds === masking.userIds;
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
      <p>
        <button type="submit" disabled={isSame}>
          Save
        </button>{' '}
        <span role="status">{isSaved && isSame ? 'Saved.' : ''}</span>
      </p>
      <p class="faint" role="status">
        {fault === ''
          ? 'It holds for what is sent from now on. Rules find most personal data, and not all of it.'
          : fault}
      </p>
    </form>
  );
}
