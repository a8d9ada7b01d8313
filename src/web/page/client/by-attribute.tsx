/**
 * The values of an attribute under one another, such as of plans or releases, with the numbers of each.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { choiceOf, type LeftOut } from '../../../domain/attributes.ts';
import { api, type Row } from './api.ts';
import { Choice } from './choice.tsx';
import { Differences } from './differences.tsx';
import {
  formatBounds,
  formatCount,
  formatNet,
  formatShare,
  formatUsd,
  RESOLVED_MEANING,
  tellingOf,
  tellingWords,
} from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { Go, Head, Section } from './parts.tsx';
import { parametersOfSegment, usePeriod, withoutAttribute } from './period.ts';
import { leftOutName, useAttributes, withValue, type Attributes } from './segments.tsx';
import type { ChosenValue, PageState } from './state.ts';

/** Values that the table shows: of all conversations, and of one entity, for which each is a query. */
const MOST_VALUES = 20;
const MOST_OF_ENTITY = 8;
const ENDINGS = 'sessions,users,dissatisfied,handedOver,resolvedAtLeast,resolvedAtMost,cameBack,costUsd';

/** The values of an attribute with their numbers; nothing where no conversation has attributes. */
export function ByAttribute({
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

/** The dissatisfied conversations, and their share where it tells something. */
function shareWords({ dissatisfied = 0, sessions = 0 }: Row['fields']): string {
  const share = tellingOf(sessions) === 'none' ? '' : ` (${formatShare(dissatisfied / sessions)})`;
  return `${formatCount(dissatisfied)}${share}`;
}

/** What the conversations cost, and what one of them costs where that tells something. */
function costWords({ costUsd, sessions = 0 }: Row['fields']): readonly [all: string, each: string] {
  if (costUsd == null) return ['–', '–'];
  return [formatUsd(costUsd), tellingOf(sessions) === 'none' ? '–' : formatUsd(costUsd / sessions)];
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
    <>
      {isChosen ? (
        <p class="faint">
          This table compares all values of {name}; everything else on the page counts the chosen ones.
        </p>
      ) : null}
      <div class="sideways">
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
              ...(hasCosts
                ? ([
                    ['Cost of replies', 'number'],
                    ['Per conversation', 'number'],
                  ] as const)
                : []),
            ]}
          />
          <tbody>
            {rows.map((row) => (
              <Value key={row.value} name={name} row={row} leaveOut={leaveOut} has={{ hasCosts, hasNet }} />
            ))}
          </tbody>
        </table>
      </div>
      <p class="faint">
        {hasNet
          ? 'Net satisfaction counts signals in 100 messages, “Dissatisfied” counts conversations: both can rise. '
          : ''}
        Resolved: {RESOLVED_MEANING.toLowerCase()} {tellingWords(rows.map(({ fields }) => fields.sessions))}
      </p>
    </>
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
  const [cost, costOfOne] = costWords(fields);
  const telling = tellingOf(fields.sessions);
  const rate = telling === 'enough' ? 'number' : 'number faint';
  return (
    <tr>
      <td>
        <Go to={{ segment: withValue(segment, [attribute, value]) }} title={value}>
          {value}
        </Go>{' '}
        <Go
          class="faint leave-out"
          to={{ segment: withoutValue(segment, attribute, value, leaveOut) }}
          title={`Count conversations without ${attribute}: ${value}`}
        >
          leave out
        </Go>
      </td>
      <td class="number">{formatCount(fields.sessions)}</td>
      <td class="number">{formatCount(fields.users)}</td>
      {hasNet ? <td class={rate}>{telling === 'none' ? '–' : formatNet(fields.netSat)}</td> : null}
      <td class={rate}>{shareWords(fields)}</td>
      <td class="number">{formatBounds(fields.resolvedAtLeast, fields.resolvedAtMost)}</td>
      <td class="number">{formatCount(fields.handedOver)}</td>
      <td class="number">{formatCount(fields.cameBack)}</td>
      {hasCosts ? <td class="number">{cost}</td> : null}
      {hasCosts ? <td class={rate}>{costOfOne}</td> : null}
    </tr>
  );
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
