/**
 * An input for a time zone that suggests the zones known to the browser.
 *
 * Test: test/e2e/dashboard.test.ts.
 */

export function ZoneInput({ value, set }: { readonly value: string; readonly set: (value: string) => void }) {
  return (
    <>
      <input list="zones" value={value} maxLength={64} onInput={(event) => set(event.currentTarget.value)} />
      <datalist id="zones">
        {['UTC', ...Intl.supportedValuesOf('timeZone')].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
