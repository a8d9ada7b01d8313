/**
 * The life of a topic, gap, repeated request or signal: where it stands, who takes care of it, and a dialog to say so.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useContext, useState } from 'preact/hooks';
import type { Life } from '../../../domain/life-schema.ts';
import {
  isWebLink,
  LIFE_STATES,
  LIFE_STATE_WORDS,
  LONGEST_LINK,
  LONGEST_NOTE,
  LONGEST_OWNER,
  type LifeState,
} from '../../../domain/lives.ts';
import { CuratingContext, useCurating } from './curating.ts';
import { Choice } from './choice.tsx';
import { Dialog } from './dialog.tsx';
import { EffectOf } from './effects.tsx';
import { formatDay } from './format.ts';
import { useNavigation } from './hooks.ts';
import { useAttributes } from './segments.tsx';
import { clockAt, clockNow, startOfDay } from './zone.ts';
import type { EntityKind } from './state.ts';

/** Entities with a life, with the parameter of their id. */
const TRACKED = {
  topic: 'topicId',
  gap: 'gapId',
  repeat: 'repeatedRequestId',
  signal: 'signalId',
} as const;
type TrackedKind = keyof typeof TRACKED;

export function isTracked(kind: EntityKind): kind is TrackedKind {
  return kind in TRACKED;
}

const LOOKS: Readonly<Record<LifeState, string>> = {
  OPEN: 'tag',
  PLANNED: 'tag warn',
  FIXED: 'tag good',
  WONT_DO: 'tag',
};

/** The state in a list; nothing where nobody said anything. */
export function LifeTag({ life }: { readonly life: Life | null | undefined }) {
  return life == null ? null : <span class={LOOKS[life.state]}>{LIFE_STATE_WORDS[life.state]}</span>;
}

interface LifeProps {
  readonly kind: TrackedKind;
  readonly id: string;
  readonly name: string;
  /** As the service last told it. */
  readonly life: Life | null;
}

/** Shows the life on the page of an entity, with a button to state it anew. */
export function LifeOf(props: LifeProps) {
  const { id, name } = props;
  const { isShared } = useNavigation();
  const { life, isTold, save } = useSaved(props);
  if (isShared && life === null) return null;
  return (
    <>
      <div class="curate" role="group" aria-label={`Status of ${name}`}>
        <span>
          Status: {life === null ? LIFE_STATE_WORDS.OPEN : <LifeTag life={life} />} {sinceWords(life)}
        </span>
        {life?.owner == null ? null : <span>{life.owner}</span>}
        {life?.note == null ? null : <span class="faint">{life.note}</span>}
        <LifeLink link={life?.link} />
        {isShared ? null : <ChangeLife {...props} life={life} onSave={save} />}
      </div>
      {isShared || !isTold || life?.state !== 'FIXED' ? null : <EffectOf id={id} life={life.curationId} />}
    </>
  );
}

/** A life as the form states it. */
type Stated = Omit<Life, 'at' | 'curationId'>;

/** Returns what was saved here until the service tells it or another decision follows: reading it takes seconds. */
function useSaved({ id, life }: LifeProps) {
  const { edits = 0 } = useContext(CuratingContext) ?? {};
  const [saved, setSaved] = useState<{ readonly life: Life; readonly until: string } | null>(null);
  const now = (more: number): string => `${id} ${life?.curationId} ${edits + more}`;
  const isTold = saved === null || saved.until !== now(0);
  return {
    life: isTold ? life : saved.life,
    isTold,
    /** Call it once the decision is taken; `edits` counts it from then on. */
    save: (stated: Stated): void =>
      setSaved({ life: { ...stated, at: new Date().toISOString(), curationId: '' }, until: now(1) }),
  };
}

type ChangeProps = LifeProps & { readonly onSave: (stated: Stated) => void };

function ChangeLife(target: ChangeProps) {
  const { reason } = useCurating();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" disabled={reason !== ''} title={reason} onClick={() => setOpen(true)}>
        Change status …
      </button>
      {isOpen ? <LifeDialog {...target} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

/** Words when something was fixed: `since 5 Jan 2026`, `in version 3.2`; '' where nobody said so. */
export function sinceWords(
  life: {
    readonly release?: Life['release'] | undefined;
    readonly fixedAt?: string | null | undefined;
  } | null,
): string {
  if (life?.release != null) return `in ${life.release.name} ${life.release.value}`;
  return life?.fixedAt == null ? '' : `since ${formatDay(life.fixedAt)}`;
}

/** Leads to where more is; nothing without a link that leads to the web. */
export function LifeLink({ link }: { readonly link: string | null | undefined }) {
  return link == null || !isWebLink(link) ? null : (
    <a href={link} rel="noreferrer">
      {URL.parse(link)?.host ?? link}
    </a>
  );
}

function LifeDialog({
  kind,
  id,
  name,
  life,
  onSave,
  onClose,
}: ChangeProps & { readonly onClose: () => void }) {
  const { decide } = useCurating();
  const [fields, setFields] = useState({
    state: life?.state ?? 'OPEN',
    owner: life?.owner ?? '',
    note: life?.note ?? '',
    link: life?.link ?? '',
    ...sinceOf(life),
  });
  const set = (changes: Partial<typeof fields>): void => setFields({ ...fields, ...changes });
  const { state, owner, note, link, by, day, attribute, value } = fields;
  const isKnownRelease = attribute.trim() !== '' && value.trim() !== '';
  const isDated = state !== 'FIXED' || (by === 'day' ? !isToCome(day) : isKnownRelease);
  return (
    <Dialog
      title={`Status of “${name}”`}
      action="Save status"
      isReady={isDated && (link.trim() === '' || isWebLink(link.trim()))}
      onConfirm={async () => {
        const since = state === 'FIXED' ? statedSince(fields, life) : {};
        const named = link.trim() === '' ? {} : { link: link.trim() };
        await decide(
          { action: 'TRACK', [TRACKED[kind]]: id, state, ...since, owner, note, ...named },
          `“${name}”: ${LIFE_STATE_WORDS[state]}.`,
        );
        onSave({
          state,
          fixedAt:
            state !== 'FIXED' || 'release' in since ? null : (since.fixedAt ?? new Date().toISOString()),
          release: 'release' in since ? since.release : null,
          owner: owner.trim() === '' ? null : owner.trim(),
          note: note.trim() === '' ? null : note.trim(),
          link: named.link ?? null,
        });
      }}
      onClose={onClose}
    >
      <p class="faint">It changes no number, and you can undo it.</p>
      <label>
        Status
        <select
          value={state}
          onChange={({ currentTarget }) => set({ state: currentTarget.value as LifeState })}
        >
          {LIFE_STATES.map((one) => (
            <option key={one} value={one}>
              {LIFE_STATE_WORDS[one]}
            </option>
          ))}
        </select>
      </label>
      {state === 'FIXED' ? <Since fields={fields} set={set} /> : null}
      <label>
        Who takes care of it (optional)
        <input
          maxLength={LONGEST_OWNER}
          value={owner}
          onInput={({ currentTarget }) => set({ owner: currentTarget.value })}
        />
      </label>
      <label>
        Note (optional)
        <textarea
          rows={3}
          maxLength={LONGEST_NOTE}
          value={note}
          onInput={({ currentTarget }) => set({ note: currentTarget.value })}
        />
      </label>
      <label>
        Link, such as an issue (optional)
        <input
          type="url"
          maxLength={LONGEST_LINK}
          value={link}
          onInput={({ currentTarget }) => set({ link: currentTarget.value })}
        />
      </label>
    </Dialog>
  );
}

/** Since when something is fixed, as the form has it. */
interface SinceFields {
  readonly by: 'day' | 'release';
  /** `2026-11-21`; '': now. */
  readonly day: string;
  readonly attribute: string;
  readonly value: string;
}

/** What is fixed stays so since when it was: each statement is the whole life. */
function sinceOf(life: Life | null): SinceFields {
  const { name: attribute = '', value = '' } = life?.release ?? {};
  const day = life?.fixedAt == null ? '' : clockAt(life.fixedAt).slice(0, 10);
  return { by: life?.release == null ? 'day' : 'release', day, attribute, value };
}

/** Returns the current day, as `2026-11-21`. */
function today(): string {
  return new Date(clockNow()).toISOString().slice(0, 10);
}

function isToCome(day: string): boolean {
  return day > today();
}

function statedSince(
  { by, day, attribute, value }: SinceFields,
  life: Life | null,
): { readonly release: NonNullable<Life['release']> } | { readonly fixedAt?: string } {
  if (by === 'release') return { release: { name: attribute.trim(), value: value.trim() } };
  // A day that stays keeps its time of day.
  if (life?.fixedAt != null && day === sinceOf(life).day) return { fixedAt: life.fixedAt };
  return day === '' ? {} : { fixedAt: startOfDay(day) };
}

function Since({
  fields: { by, day, attribute, value },
  set,
}: {
  readonly fields: SinceFields;
  readonly set: (changes: Partial<SinceFields>) => void;
}) {
  const attributes = useAttributes('');
  const values = attributes.find(({ name }) => name === attribute)?.values ?? [];
  return (
    <>
      <Choice
        label="Fixed when"
        value={by}
        options={[
          ['day', 'since a day'],
          ['release', 'in a release'],
        ]}
        onChoice={(one) => set({ by: one })}
      />
      {by === 'day' ? (
        <>
          <label>
            Since which day (optional)
            <input
              type="date"
              max={today()}
              value={day}
              onInput={({ currentTarget }) => set({ day: currentTarget.value })}
            />
          </label>
          {isToCome(day) ? (
            <p class="fault" role="alert">
              This day has not come yet. Choose a day that has begun, or “in a release”.
            </p>
          ) : (
            <p class="faint">Without a day, it counts as fixed from now on.</p>
          )}
        </>
      ) : (
        <>
          <label>
            Attribute of conversations, such as version
            <input
              list="life-attributes"
              value={attribute}
              onInput={({ currentTarget }) => set({ attribute: currentTarget.value })}
            />
            <datalist id="life-attributes">
              {attributes.map(({ name }) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </label>
          <label>
            Its value, such as 3.2
            <input
              list="life-values"
              value={value}
              onInput={({ currentTarget }) => set({ value: currentTarget.value })}
            />
            <datalist id="life-values">
              {values.map(({ value: one }) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          </label>
        </>
      )}
    </>
  );
}
