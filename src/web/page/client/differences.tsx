/**
 * What conversations of one value of an attribute have more or less often than those of another, such as of two
 * releases.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { api, type AttributesResponse, type DifferencesResponse } from './api.ts';
import { entityOf } from './changes.tsx';
import { Choice } from './choice.tsx';
import { counted, formatShare, tellingOf } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { Empty, Fault, Go, Head, Section } from './parts.tsx';
import { usePeriod, withoutAttribute } from './period.ts';

type Attribute = AttributesResponse['attributes'][number];

/** Nothing where the attribute has one value. */
export function Differences({
  attribute: { name, values },
  version,
}: {
  readonly attribute: Attribute;
  readonly version: string;
}) {
  const period = usePeriod();
  const { state, go } = useNavigation();
  const options = values.map(({ value }) => value);
  const asked = [state.value, state.against] as const;
  const [value = '', against = ''] = asked.every((one) => options.includes(one)) ? asked : options;
  const isAsked = value !== '' && against !== '' && value !== against;
  const { value: found, error } = useAnswer(
    `differences ${name} ${value} ${against} ${period.name}`,
    version,
    async (signal) =>
      isAsked
        ? api.differences(
            {
              instanceId: period.instance,
              ...withoutAttribute(period.range, name),
              segmentKey: name,
              value,
              against,
            },
            signal,
          )
        : null,
  );
  const choose = (one: string, other: string): void =>
    go({ attribute: name, value: one, against: other }, 'replace');
  if (values.length < 2) return null;
  const choices = options.map((one) => [one, one] as const);
  return (
    <Section title="What differs">
      <p>
        <Choice label="Between" value={value} options={choices} onChoice={(one) => choose(one, against)} />{' '}
        <Choice label="and" value={against} options={choices} onChoice={(one) => choose(value, one)} />
      </p>
      <Fault error={error} />
      {found === null ? null : <Found found={found} />}
    </Section>
  );
}

function Found({ found }: { readonly found: DifferencesResponse }) {
  const { segmentKey, value: a, against: b, range, differences } = found;
  if (range === null) return <Empty>There is no day in this period on which both occur.</Empty>;
  const compared =
    `Compared are ${counted(a.sessions, 'conversation')} of ${a.value} and ${b.sessions} of ${b.value}: those between ` +
    'the first and the last day on which both occur. The table above counts the whole period.';
  const isFew = tellingOf(Math.min(a.sessions, b.sessions)) === 'none';
  if (differences.length === 0)
    return (
      <Empty>
        {isFew ? 'There are too few conversations to tell.' : 'No difference is larger than chance explains.'}{' '}
        {compared}
      </Empty>
    );
  return (
    <>
      <table>
        <Head columns={[['Found in'], [a.value, 'number'], [b.value, 'number']]} />
        <tbody>
          {differences.map((difference) => {
            const { id, name, view, kind } = entityOf(difference);
            return (
              <tr key={id}>
                <td>
                  <Go to={{ view, id }} title={name}>
                    {name}
                  </Go>{' '}
                  <span class="faint">{kind}</span>
                </td>
                {[[a.value, difference.share] as const, [b.value, difference.shareAgainst] as const].map(
                  ([value, share]) => (
                    <td key={value} class="number">
                      <Go
                        to={{ view, id, segment: [[segmentKey, value]] }}
                        title={`Conversations of ${value}`}
                      >
                        {formatShare(share)}
                      </Go>
                    </td>
                  ),
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="faint">{compared} Only differences larger than chance explains are listed.</p>
    </>
  );
}
