/**
 * Segments of conversations: the chooser in the header, the chips of what is chosen, and the values of an attribute as a
 * table. What is chosen stays while one clicks through the page.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { choiceOf, isLeftOutName, nameOfChoice, type LeftOut } from '../../../domain/attributes.ts';
import { api, type Row } from './api.ts';
import { Differences } from './differences.tsx';
import { Choice } from './choice.tsx';
import { formatBounds, formatCount, formatNet, formatUsd } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { Go, Head, Section } from './parts.tsx';
import { usePeriod } from './period.ts';
import type { ChosenValue, PageState } from './state.ts';

export type Attributes = Awaited<ReturnType<typeof api.attributes>>['attributes'];

/** Returns the attributes of the instance's conversations. A reader with a link sees none. */
export function useAttributes(version: string): Attributes {
  const { state, isShared } = useNavigation();
  const { value } = useAnswer(`attributes ${state.instance}`, version, async (signal) =>
    isShared || state.instance === '' ? null : api.attributes(state.instance, signal),
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
  const attributes = useAttributes('');
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

/** Shows the chosen attributes, and what the instance leaves out. */
export function SegmentChips({ leaveOut }: { readonly leaveOut: LeftOut }) {
  const { state, go } = useNavigation();
  const asked = new Set(state.segment.map(([name]) => choiceOf(name, []).name));
  const chips = [
    ...state.segment.map((chosen, index) => ({
      words: `${isAlternative(state.segment, index) ? 'or ' : ''}${wordsOf(chosen)}`,
      segment: without(state.segment, chosen),
    })),
    // Leaving out nothing takes it off.
    ...Object.entries(leaveOut).flatMap(([name, values]) =>
      asked.has(name)
        ? []
        : [
            {
              words: `without ${name}: ${values.join(', ')}`,
              segment: withValue(state.segment, [leftOutName(name), '']),
            },
          ],
    ),
  ];
  if (chips.length === 0) return null;
  return (
    <p class="chips" aria-label="Segment">
      {chips.map(({ words, segment }) => (
        <button key={words} type="button" title={words} onClick={() => go({ segment })}>
          <span class="words">{words}</span> <span aria-hidden="true">×</span>
          <span class="hidden"> take this segment off</span>
        </button>
      ))}
    </p>
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
    ...segment.filter((chosen) => chosen[0] !== leftOutName(name)),
    ...[...left].map((one): ChosenValue => [leftOutName(name), one]),
  ];
}

const leftOutName = (name: string): string => nameOfChoice({ name, isLeftOut: true });

/** Values that the table shows. */
const MOST_VALUES = 20;

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
    ...period.range,
    ...period.signals,
    groupBy: 'SEGMENT',
    segmentKey: name,
    fields: 'sessions,users,sat,dsat,netSat,handedOver,resolvedAtLeast,resolvedAtMost,cameBack,costUsd',
    'sort.field': 'sessions',
  };
  const { value } = useAnswer(`segments ${name} ${period.name}`, version, async (signal) =>
    name === '' ? null : api.query({ ...parameters, limit: MOST_VALUES }, signal),
  );
  if (attribute === undefined || value === null) return null;
  const hasCosts = value.elements.some(({ fields }) => fields.costUsd != null);
  return (
    <>
      <Section title="By attribute" csv={() => api.csv(parameters)}>
        <Choice
          label="Attribute"
          value={name}
          options={attributes.map((each) => [each.name, each.name])}
          onChoice={(attribute) => go({ attribute, value: '', against: '' }, 'replace')}
        />
        <div class="sideways">
          <table>
            <Head
              columns={[
                [name],
                ['Conversations', 'number'],
                ['Users', 'number'],
                ['Net satisfaction', 'number'],
                ['Resolved', 'number'],
                ['Handed over', 'number'],
                ['Came back', 'number'],
                ...(hasCosts ? ([['Cost', 'number']] as const) : []),
              ]}
            />
            <tbody>
              {value.elements.map((row) => (
                <Value
                  key={row.dimensions.segment?.id}
                  row={row}
                  segment={state.segment}
                  leaveOut={leaveOut}
                  hasCosts={hasCosts}
                />
              ))}
            </tbody>
          </table>
        </div>
      </Section>
      <Differences key={name} attribute={attribute} version={version} />
    </>
  );
}

function Value({
  row: { dimensions, fields },
  segment,
  leaveOut,
  hasCosts,
}: {
  readonly row: Row;
  readonly segment: PageState['segment'];
  readonly leaveOut: LeftOut;
  readonly hasCosts: boolean;
}) {
  const { attribute = '', value = '' } = dimensions.segment ?? {};
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
      <td class="number">{formatNet(fields.netSat)}</td>
      <td class="number">{formatBounds(fields.resolvedAtLeast, fields.resolvedAtMost)}</td>
      <td class="number">{formatCount(fields.handedOver)}</td>
      <td class="number">{formatCount(fields.cameBack)}</td>
      {hasCosts ? <td class="number">{fields.costUsd == null ? '–' : formatUsd(fields.costUsd)}</td> : null}
    </tr>
  );
}
