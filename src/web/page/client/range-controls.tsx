/**
 * The controls of the period: a span that ends now, a calendar week or month, or any days.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useNavigation } from './hooks.ts';
import { asDays, CALENDAR, RANGES, type RangeName } from './state.ts';
import { clockNow, zoneName } from './zone.ts';

const RANGE_WORDS: Readonly<Record<(typeof RANGES)[number], string>> = {
  '24h': '24 hours',
  '7d': '7 days',
  '28d': '28 days',
  '90d': '90 days',
  '365d': 'Year',
  all: 'All',
};
const CALENDAR_WORDS: Readonly<Record<(typeof CALENDAR)[number], string>> = {
  'this-week': 'This week',
  'last-week': 'Last week',
  'this-month': 'This month',
  'last-month': 'Last month',
};

/** Words a range: `7 days`, `2026-11-01 to 2026-11-07`. */
export function rangeWords(range: RangeName): string {
  const words: Readonly<Record<string, string>> = { ...RANGE_WORDS, ...CALENDAR_WORDS };
  return words[range] ?? range.replace('/', ' to ');
}

export function RangeControls() {
  const { state, go } = useNavigation();
  const [first = '', last = ''] = state.range.includes('/') ? state.range.split('/') : [];
  const isDays = first !== '';
  const chosen = isDays ? 'days' : CALENDAR.some((name) => name === state.range) ? state.range : '';
  const choose = (value: string): void => {
    if (value === '') return;
    const [from, to] = asDays(state.range, clockNow());
    go({ range: value === 'days' ? `${from}/${to}` : (value as RangeName) });
  };
  /** Moves one day; the other follows if the order would change. */
  const move = (from: string, to: string): void => {
    if (from !== '' && to !== '') go({ range: `${from}/${to}` });
  };
  return (
    <>
      <div class="ranges" role="group" aria-label="Period">
        {RANGES.map((range, index) => (
          <button
            key={range}
            type="button"
            aria-pressed={state.range === range}
            title={`Key ${index + 1}`}
            onClick={() => go({ range })}
          >
            {RANGE_WORDS[range]}
          </button>
        ))}
      </div>
      <label>
        <span class="hidden">Week, month or days</span>
        <select
          value={chosen}
          title={`Days begin at midnight, ${zoneName()}`}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          <option value="">dates …</option>
          {CALENDAR.map((name) => (
            <option key={name} value={name}>
              {CALENDAR_WORDS[name]}
            </option>
          ))}
          <option value="days">Days …</option>
        </select>
      </label>
      {isDays ? (
        <span class="days">
          <input
            type="date"
            aria-label={`First day, ${zoneName()}`}
            value={first}
            onChange={({ currentTarget: { value } }) => move(value, value > last ? value : last)}
          />
          –
          <input
            type="date"
            aria-label={`Last day, ${zoneName()}`}
            value={last}
            onChange={({ currentTarget: { value } }) => move(value < first ? value : first, value)}
          />
        </span>
      ) : null}
    </>
  );
}
