/**
 * Segments of conversations: the chooser in the header, the chips of what is chosen, and the values of an attribute as a
 * table. What is chosen stays while one clicks through the page.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { choiceOf, isLeftOutName, nameOfChoice, type LeftOut } from '../../../domain/attributes.ts';
import { api, type Parameters, type Row } from './api.ts';
import { Differences } from './differences.tsx';
import { Choice } from './choice.tsx';
import { formatBounds, formatCount, formatNet, formatShare, formatUsd } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { Go, Head, Section } from './parts.tsx';
import { parametersOfSegment, usePeriod, withoutAttribute } from './period.ts';
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

function withValue(segment: PageState['segment'], added: ChosenValue): PageState['segment'] {
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
  return (
    <label>
      <span class="hidden">Segment</span>
      <select
        value=""
        title="Only conversations with an attribute"
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="">{state.segment.length === 0 ? 'all conversations' : 'and, or …'}</option>
        {attributes.map(({ name, values }, attribute) => (
          <optgroup key={name} label={name}>
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

/** Leaves out a value besides those that are left out already: by the reader, or else by the instance. */
function withoutValue(
  segment: PageState['segment'],
  name: string,
  value: string,
  leaveOut: LeftOut,
): PageState['segment'] {
  const isOf = ([chosen]: ChosenValue): boolean => choiceOf(chosen, []).name === name;
  const own = segment.some(isOf)
    ? segment.filter(([chosen]) => chosen === leftOutName(name)).map(([, left]) => left)
    : (leaveOut[name] ?? []);
  const left = new Set([...own.filter((one) => one !== ''), value]);
  return [
    ...segment.filter(([chosen, one]) => chosen !== leftOutName(name) && (chosen !== name || one !== value)),
    ...[...left].map((one): ChosenValue => [leftOutName(name), one]),
  ];
}

const leftOutName = (name: string): string => nameOfChoice({ name, isLeftOut: true });

/** Values that the table shows: of all conversations, and of one entity, for which each is a query. */
const MOST_VALUES = 20;
const MOST_OF_ENTITY = 8;
const ENDINGS = 'sessions,users,dissatisfied,handedOver,resolvedAtLeast,resolvedAtMost,cameBack,costUsd';

/** The values of an attribute with their numbers; nothing where no conversation has attributes. */
export function Segments({
  attributes,
  leaveOut,
  version,
}: {
  readonly attributes: Attributes;
  /** What the instance leaves out. */
  readonly leaveOut: LeftOut;
  readonly version: string;
}) {
  const { state, go } = useNavigation();
  const period = usePeriod();
  const attribute =
    attributes.find((each) => each.name === state.attribute) ??
    attributes.find(({ values }) => values.length > 1) ??
    attributes[0];
  const name = attribute?.name ?? '';
  const parameters = {
    instanceId: period.instance,
    ...withoutAttribute(period.range, name),
    ...period.signals,
    groupBy: 'SEGMENT',
    segmentKey: name,
    fields: `${ENDINGS},sat,dsat,netSat`,
    'sort.field': 'sessions',
  };
  const { value } = useAnswer(`segments ${name} ${period.name}`, version, async (signal) =>
    name === '' ? null : api.query({ ...parameters, limit: MOST_VALUES }, signal),
  );
  if (attribute === undefined || value === null) return null;
  return (
    <>
      <Section title="By attribute" csv={() => api.csv(parameters)}>
        <Choice
          label="Attribute"
          value={name}
          options={attributes.map((each) => [each.name, each.name])}
          onChoice={(attribute) => go({ attribute, value: '', against: '' }, 'replace')}
        />
        <Values
          name={name}
          rows={value.elements.map(({ dimensions, fields }) => ({
            value: dimensions.segment?.value ?? '',
            fields,
          }))}
          leaveOut={leaveOut}
        />
      </Section>
      <Differences key={name} attribute={attribute} version={version} />
    </>
  );
}

/**
 * The numbers of one entity by the values of an attribute, under one another, within the rest of the segment; nothing
 * where no conversation has attributes. Asks for them once an attribute is chosen, here or in the segment.
 */
export function EntityByAttribute({
  groupBy,
  id,
  hasNet,
  leaveOut,
  version,
}: {
  readonly groupBy: string;
  readonly id: string;
  /** True if its rows count satisfaction. */
  readonly hasNet: boolean;
  readonly leaveOut: LeftOut;
  readonly version: string;
}) {
  const { state, go } = useNavigation();
  const period = usePeriod();
  const attributes = useAttributes(version, 'period').filter(({ values }) => values.length > 1);
  const inSegment = state.segment.findLast(([name]) => attributes.some((each) => each.name === name));
  const chosen = attributes.find(
    ({ name }) => name === (state.attribute === '' ? inSegment?.[0] : state.attribute),
  );
  const name = chosen?.name ?? '';
  const values = (chosen?.values ?? []).slice(0, MOST_OF_ENTITY).map(({ value }) => value);
  const key = `entity by ${name} ${values.join()} ${id} ${period.name}`;
  const { value: rows } = useAnswer(key, version, async (signal) => {
    const { range } = period;
    const asking = {
      instanceId: period.instance,
      ...range,
      ...(hasNet ? period.signals : {}),
      groupBy,
      ids: id,
      fields: hasNet ? `${ENDINGS},sat,dsat,netSat` : ENDINGS,
    };
    return Promise.all(
      values.map(async (value) => {
        const { elements } = await api.query({ ...asking, ...parametersOfSegment([[name, value]]) }, signal);
        return { value, fields: elements[0]?.fields ?? {} };
      }),
    );
  });
  if (attributes.length === 0) return null;
  return (
    <Section title="By attribute">
      <Choice
        label="Attribute"
        value={name}
        options={[
          ...(name === '' ? [['', 'choose an attribute'] as const] : []),
          ...attributes.map((each) => [each.name, each.name] as const),
        ]}
        onChoice={(attribute) => go({ attribute }, 'replace')}
      />
      {rows === null || rows.length === 0 ? null : <Values name={name} rows={rows} leaveOut={leaveOut} />}
    </Section>
  );
}

/** The dissatisfied conversations, and their share. */
function shareWords({ dissatisfied = 0, sessions = 0 }: Row['fields']): string {
  const share = sessions === 0 ? '' : ` (${formatShare(dissatisfied / sessions)})`;
  return `${formatCount(dissatisfied)}${share}`;
}

interface ValueRow {
  readonly value: string;
  readonly fields: Row['fields'];
}

/** Rows of numbers by the values of the attribute `name`. */
function Values({
  name,
  rows,
  leaveOut,
}: {
  readonly name: string;
  readonly rows: readonly ValueRow[];
  readonly leaveOut: LeftOut;
}) {
  const hasCosts = rows.some(({ fields }) => fields.costUsd != null);
  const hasNet = rows.some(({ fields }) => fields.netSat !== undefined);
  const isChosen = useNavigation().state.segment.some(([chosen]) => chosen === name);
  return (
    <div class="sideways">
      {isChosen ? <p class="faint">All values, whichever the segment chooses.</p> : null}
      <table>
        <Head
          columns={[
            [name],
            ['Conversations', 'number'],
            ['Users', 'number'],
            ...(hasNet ? ([['Net satisfaction', 'number']] as const) : []),
            ['Dissatisfied', 'number'],
            ['Resolved', 'number'],
            ['Handed over', 'number'],
            ['Came back', 'number'],
            ...(hasCosts ? ([['Cost', 'number']] as const) : []),
          ]}
        />
        <tbody>
          {rows.map((row) => (
            <Value key={row.value} name={name} row={row} leaveOut={leaveOut} has={{ hasCosts, hasNet }} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Value({
  name: attribute,
  row: { value, fields },
  leaveOut,
  has: { hasCosts, hasNet },
}: {
  readonly name: string;
  readonly row: ValueRow;
  readonly leaveOut: LeftOut;
  readonly has: { readonly hasCosts: boolean; readonly hasNet: boolean };
}) {
  const {
    state: { segment },
  } = useNavigation();
  return (
    <tr>
      <td>
        <Go to={{ segment: withValue(segment, [attribute, value]) }} title={value}>
          {value}
        </Go>{' '}
        <Go
          class="faint"
          to={{ segment: withoutValue(segment, attribute, value, leaveOut) }}
          title={`Count conversations without ${attribute}: ${value}`}
        >
          leave out
        </Go>
      </td>
      <td class="number">{formatCount(fields.sessions)}</td>
      <td class="number">{formatCount(fields.users)}</td>
      {hasNet ? <td class="number">{formatNet(fields.netSat)}</td> : null}
      <td class="number">{shareWords(fields)}</td>
      <td class="number">{formatBounds(fields.resolvedAtLeast, fields.resolvedAtMost)}</td>
      <td class="number">{formatCount(fields.handedOver)}</td>
      <td class="number">{formatCount(fields.cameBack)}</td>
      {hasCosts ? <td class="number">{fields.costUsd == null ? '–' : formatUsd(fields.costUsd)}</td> : null}
    </tr>
  );
}
