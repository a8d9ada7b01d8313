/**
 * Segments of conversations: the chooser in the header and the chips of what is chosen, which stays while one clicks
 * through the page.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { choiceOf, isLeftOutName, nameOfChoice, type LeftOut } from '../../../domain/attributes.ts';
import { api, type Parameters } from './api.ts';
import { formatCount } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { Go } from './parts.tsx';
import { parametersOfSegment, usePeriod } from './period.ts';
import { SEGMENT, type ChosenValue, type PageState } from './state.ts';
import { asked, zoneName } from './zone.ts';

export type Attributes = Awaited<ReturnType<typeof api.attributes>>['attributes'];

/**
 * Returns the attributes of the instance's conversations, of all time or of the page's period. A reader with a link sees
 * none.
 */
export function useAttributes(version: string, of: 'all time' | 'period' = 'all time'): Attributes {
  const { state, isShared } = useNavigation();
  const { clock } = usePeriod();
  const range = of === 'all time' || clock === null ? {} : asked(clock);
  const key = `attributes ${state.instance} ${'dateRange.start' in range ? state.range : ''} ${zoneName()}`;
  const { value } = useAnswer(key, version, async (signal) =>
    isShared || state.instance === ''
      ? null
      : api.attributes({ instanceId: state.instance, ...range }, signal),
  );
  return value?.attributes ?? [];
}

export function withValue(segment: PageState['segment'], added: ChosenValue): PageState['segment'] {
  return [...without(segment, added), added];
}

function without(segment: PageState['segment'], [name, value]: ChosenValue): PageState['segment'] {
  return segment.filter((chosen) => chosen[0] !== name || chosen[1] !== value);
}

/** Chooses conversations by an attribute; nothing where none has any. */
export function SegmentChoice() {
  const { state, go } = useNavigation();
  const attributes = useAttributes('', 'period');
  if (attributes.length === 0) return null;
  const choose = (place: string): void => {
    const [attribute = -1, value = -1] = place.split('/').map(Number);
    const { name, values } = attributes[attribute] ?? {};
    const chosen = values?.[value];
    if (name !== undefined && chosen !== undefined)
      go({ segment: withValue(state.segment, [name, chosen.value]) });
  };
  const isAll = state.segment.length === 0;
  const isChosen = (name: string): boolean => state.segment.some(([chosen]) => chosen === name);
  return (
    <label>
      <span class="hidden">Segment</span>
      <select
        value=""
        title="Only conversations with an attribute"
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="">{isAll ? 'all conversations' : 'add filter …'}</option>
        {attributes.map(({ name, values }, attribute) => (
          <optgroup key={name} label={isAll ? name : `${isChosen(name) ? 'or' : 'and'} ${name}`}>
            {values.map(({ value, sessions }, place) => (
              <option key={value} value={`${attribute}/${place}`}>
                {value} ({formatCount(sessions)})
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

/** Shows the chosen attributes, each with the other values in its place, and what the instance leaves out. */
export function SegmentChips({ leaveOut }: { readonly leaveOut: LeftOut }) {
  const { state, go } = useNavigation();
  const attributes = useAttributes('', 'period');
  const asked = new Set(state.segment.map(([name]) => choiceOf(name, []).name));
  const chips = [
    ...state.segment.map((chosen, index) => ({
      words: `${isAlternative(state.segment, index) ? 'or ' : ''}${wordsOf(chosen)}`,
      segment: without(state.segment, chosen),
      chosen,
    })),
    // Leaving out nothing takes it off.
    ...Object.entries(leaveOut).flatMap(([name, values]) =>
      asked.has(name)
        ? []
        : [
            {
              words: `without ${name}: ${values.join(', ')}`,
              segment: withValue(state.segment, [leftOutName(name), '']),
              chosen: null,
            },
          ],
    ),
  ];
  if (chips.length === 0) return null;
  return (
    <p class="chips" aria-label="Segment">
      {chips.map(({ words, segment, chosen }) => (
        <span key={words} class="chip">
          {chosen === null || chosen[1] === '' ? (
            <span class="words" title={words}>
              {words}
            </span>
          ) : (
            <OtherValues words={words} chosen={chosen} attributes={attributes} />
          )}
          <button type="button" title={`Take off ${words}`} onClick={() => go({ segment })}>
            <span aria-hidden="true">×</span>
            <span class="hidden">Take off {words}</span>
          </button>
        </span>
      ))}
    </p>
  );
}

/** The words of a chosen value, as a menu that puts another value of the attribute in its place. */
function OtherValues({
  words,
  chosen,
  attributes,
}: {
  readonly words: string;
  readonly chosen: ChosenValue;
  readonly attributes: Attributes;
}) {
  const { state, go } = useNavigation();
  const [name, value] = chosen;
  const taken = new Set(state.segment.filter(([other]) => other === name).map(([, other]) => other));
  const own = choiceOf(name, []).name;
  const others = (attributes.find((each) => each.name === own)?.values ?? []).filter(
    ({ value: other }) => !taken.has(other),
  );
  const place = (other: string): void =>
    go({ segment: state.segment.map((each): ChosenValue => (each === chosen ? [name, other] : each)) });
  return (
    <select
      aria-label={`${words}: choose another value`}
      title={words}
      value=""
      onChange={(event) => place(others[Number(event.currentTarget.value)]?.value ?? value)}
    >
      <option value="">{words}</option>
      {others.map(({ value: other, sessions }, index) => (
        <option key={other} value={String(index)}>
          {wordsOf([name, other])} ({formatCount(sessions)})
        </option>
      ))}
    </select>
  );
}

/**
 * Says what in the segment leaves nothing, with links that take a part of it off; nothing without a segment.
 * `parameters`: the query for the conversations that are missing, with the segment.
 */
export function EmptiedBySegment({ parameters }: { readonly parameters: Parameters }) {
  const { state } = useNavigation();
  const { value } = useAnswer(`emptied ${JSON.stringify(parameters)}`, '', async (signal) => {
    if (state.segment.length === 0) return null;
    const all = Object.entries(parameters).filter(([name]) => !name.startsWith(SEGMENT));
    const count = (segment: PageState['segment']) =>
      api.query({ ...Object.fromEntries(all), ...parametersOfSegment(segment), limit: 1 }, signal);
    const [{ emptiedBy }, ...others] = await Promise.all([
      count(state.segment),
      ...state.segment.map((chosen) => count(without(state.segment, chosen))),
    ]);
    return { emptiedBy, totals: others.map(({ pagination }) => pagination.total) };
  });
  if (value === null) return null;
  return (
    <>
      {' '}
      {value.emptiedBy}{' '}
      {state.segment.map((chosen, index) =>
        value.totals[index] === 0 ? null : (
          <Go key={chosen.join()} to={{ segment: without(state.segment, chosen) }}>
            Take off {wordsOf(chosen)}: {formatCount(value.totals[index])}
          </Go>
        ),
      )}
      {state.segment.length < 2 ? null : <Go to={{ segment: [] }}>Take all of it off</Go>}
    </>
  );
}

/** True for a value beside another one of its attribute: conversations with either count. */
function isAlternative(segment: PageState['segment'], index: number): boolean {
  const [name = ''] = segment[index] ?? [];
  return !isLeftOutName(name) && segment.slice(0, index).some(([other]) => other === name);
}

function wordsOf([name, value]: ChosenValue): string {
  if (!isLeftOutName(name)) return `${name}: ${value}`;
  const { name: own } = choiceOf(name, []);
  return value === '' ? `with every ${own}` : `without ${own}: ${value}`;
}

export const leftOutName = (name: string): string => nameOfChoice({ name, isLeftOut: true });
