/**
 * A select that chooses one of a few options.
 *
 * Test: test/e2e/dashboard.test.ts.
 */

export function Choice<Value extends string>({
  label,
  isInBar = false,
  value,
  options,
  onChoice,
}: {
  readonly label: string;
  /** The bar has no room for labels: only screen readers get it, and the title has the whole choice. */
  readonly isInBar?: boolean;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, words: string, isPossible?: boolean])[];
  readonly onChoice: (value: Value) => void;
}) {
  const chosen = options.find(([option]) => option === value)?.[1] ?? '';
  return (
    <label>
      {isInBar ? <span class="hidden">{label}</span> : `${label} `}
      <select
        value={value}
        {...(isInBar ? { title: chosen } : {})}
        onChange={(event) => onChoice(event.currentTarget.value as Value)}
      >
        {options.map(([option, words, isPossible = true]) => (
          <option key={option} value={option} disabled={!isPossible}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
